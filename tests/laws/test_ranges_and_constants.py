import warnings

import numpy as np
import pytest

from simulator.laws import ranges, units
from simulator.laws.fits import BESI, SCALING_FITS
from simulator.laws.quantization_table import REPORTED_QUANTIZATION
from simulator.laws.ranges import ExtrapolationWarning
from simulator.laws.scaling import loss
from simulator.laws.serving_speed import layers


def test_a_value_outside_its_range_is_named_with_the_rule() -> None:
    with pytest.raises(ValueError, match="n_parameters must be greater than 0, got -1"):
        ranges.positive("n_parameters", np.array([2.0, -1.0]))
    with pytest.raises(ValueError, match=r"mfu must be greater than 0 and at most 1, got 1\.2"):
        ranges.share("mfu", 1.2)
    with pytest.raises(ValueError, match=r"samples must be between 1 and 28\.2, got 30"):
        ranges.between("samples", 30.0, 1.0, 28.2)
    with pytest.raises(ValueError, match="k must be 1 or more, got 0"):
        ranges.at_least("k", 0.0, 1.0)
    with pytest.raises(ValueError, match="days must be 0 or more, got -3"):
        ranges.not_negative("days", -3.0)


def test_not_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="got nan"):
        ranges.positive("n_parameters", np.nan)


def test_extrapolation_warns_only_beyond_the_data() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranges.warn_beyond("n_parameters", 1e9, 1.7e9, "a source")
    with pytest.warns(ranges.ExtrapolationWarning, match="a source"):
        ranges.warn_beyond("n_parameters", np.array([1e9, 2e9]), 1.7e9, "a source")


def test_units() -> None:
    assert units.SECONDS_PER_DAY == 86_400
    assert units.HOURS_PER_YEAR == 8_766
    assert units.DAYS_PER_MONTH * 12 == units.DAYS_PER_YEAR
    assert pytest.approx(4 / 3) == units.TOKENS_PER_WORD


def test_fits_have_unique_names_and_citations() -> None:
    assert len({fit.name for fit in SCALING_FITS}) == len(SCALING_FITS) == 5
    assert all(len(fit.citation) > 20 for fit in SCALING_FITS)


def test_reported_quantization_is_at_most_half_the_memory_and_cited() -> None:
    assert all(row.weight_memory_factor <= 0.5 and row.highest_speedup >= 1 for row in REPORTED_QUANTIZATION)
    assert all(row.citation for row in REPORTED_QUANTIZATION)


def test_a_reader_is_warned_beyond_what_was_trained_and_a_search_is_not() -> None:
    # Sardana et al. 2024: trained up to 10,000 tokens per parameter.
    with pytest.warns(ExtrapolationWarning, match=r"tokens per parameter = 20000 is beyond 10000"):
        loss(BESI, 1e9, 2e13)
    with pytest.warns(ExtrapolationWarning, match=r"n_parameters = 5e\+12 is beyond 4e\+12"):
        layers(5e12)
    loss(BESI, np.array([1e9]), np.array([2e13]))  # warnings are errors here
