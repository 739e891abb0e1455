import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.laws import kumar
from simulator.laws.ranges import ExtrapolationWarning


@given(st.floats(3, 16), st.floats(0.1, 8))
def test_more_bits_are_never_worse(bits: float, more: float) -> None:
    few, many = kumar.effective_parameter_share(np.array([bits, bits + more]), np.inf, np.inf)
    assert few <= many <= 1
    assert kumar.post_training_penalty(1e9, 2e10, bits) >= kumar.post_training_penalty(1e9, 2e10, bits + more)


def test_full_precision_is_the_plain_loss() -> None:
    plain = kumar.E + kumar.A * 1e9**-kumar.EXPONENT + kumar.B * 2e10**-kumar.EXPONENT
    assert kumar.low_precision_loss(1e9, 2e10, np.inf, np.inf, np.inf) == pytest.approx(plain)


def test_large_models_and_data_warn() -> None:
    with pytest.warns(ExtrapolationWarning, match="n_training_tokens"):
        kumar.post_training_penalty(1e9, 1e12, 4)
    with pytest.warns(ExtrapolationWarning, match="n_parameters"):
        kumar.low_precision_loss(8e9, 1e10, 8, 8, 8)
