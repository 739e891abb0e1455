"""Conversion constants, and the two array types every law takes and returns.

Base units inside the simulator: day, USD, GPU, token, FLOP, byte, kW, kWh. The unit is part of the name of every
quantity (`training_flop`, `memory_bytes`); these constants are the only place where one unit becomes another.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Numbers: TypeAlias = float | FloatArray
"""What a law accepts: a number or an array of float64; several arguments are broadcast against each other."""

SECONDS_PER_MINUTE = 60.0
MINUTES_PER_HOUR = 60.0
SECONDS_PER_HOUR = 3600.0
HOURS_PER_DAY = 24.0
SECONDS_PER_DAY = SECONDS_PER_HOUR * HOURS_PER_DAY
DAYS_PER_WEEK = 7
DAYS_PER_YEAR = 365.25
HOURS_PER_YEAR = HOURS_PER_DAY * DAYS_PER_YEAR
MONTHS_PER_YEAR = 12.0
DAYS_PER_MONTH = DAYS_PER_YEAR / MONTHS_PER_YEAR

KILO = 1e3
MEGA = 1e6
GIGA = 1e9
TERA = 1e12
PETA = 1e15
EXA = 1e18
MICRO = 1e-6
MILLI = 1e-3

BITS_PER_BYTE = 8.0
WATTS_PER_KILOWATT = 1e3
TOKENS_PER_MILLION_TOKENS = 1e6

WORDS_PER_TOKEN = 0.75
"""English words per token, the common rule of thumb: 100 billion words are 133 billion tokens.

Erdil 2024 reads OpenAI's 100 billion a day (February 2024) as tokens; the announcement says words, which is taken.
"""
TOKENS_PER_WORD = 1.0 / WORDS_PER_TOKEN

FORWARD_FLOP_PER_PARAMETER_TOKEN = 2.0
"""A forward pass costs 2 FLOP per parameter and token: one multiplication and one addition [FLOP]."""
TRAINING_FLOP_PER_PARAMETER_TOKEN = 6.0
"""Forward 2 and backward 4 (Kaplan et al. 2020; Hoffmann et al. 2022, arXiv 2203.15556) [FLOP]."""
