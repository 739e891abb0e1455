"""Another provider's price, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from simulator.world.api_fallback import ApiFallback


def test_its_price_follows_the_mix_and_the_years() -> None:
    provider = ApiFallback(usd_per_million_prompt_tokens=2.0, usd_per_million_completion_tokens=10.0, fall_per_year=0.5)
    days = np.array([0, 1461])  # four years of 365.25 days
    np.testing.assert_allclose(provider.usd_per_token(0.75, days), [4e-6, 0.25e-6])
    np.testing.assert_allclose(provider.usd_per_token(np.array([1.0, 0.0]), days), [2e-6, 0.625e-6])


def test_a_rise_is_a_negative_fall() -> None:
    provider = ApiFallback(usd_per_million_prompt_tokens=1.0, usd_per_million_completion_tokens=1.0, fall_per_year=-1)
    assert provider.usd_per_token(0.5, np.array([1461]))[0] == pytest.approx(16e-6)
