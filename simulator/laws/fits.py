"""Published coefficient sets of the parametric loss L(N, D) = E + A N^-alpha + B D^-beta, one citation each.

The sources disagree, and the choice matters: at Chinchilla's compute (5.88e23 FLOP) the rounded paper values ask for
93 tokens per parameter, the values of the paper's own LaTeX source for 59, the refit of Besiroglu et al. for 18. The
model trained at that compute, Chinchilla itself, had 20. `BESI` is therefore the default physics here; the others
reproduce the papers that used them.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalingFit:
    """One fitted set of coefficients.

    Attributes
    ----------
    name : str
        Short key a scenario uses.
    e : float
        Irreducible loss [nats per token].
    a, b : float
        Coefficients of the parameter term and of the token term [nats per token].
    alpha, beta : float
        Their exponents [1].
    citation : str
        Where the numbers are printed.
    """

    name: str
    e: float
    a: float
    b: float
    alpha: float
    beta: float
    citation: str


HOFF = ScalingFit(
    "HOFF",
    1.69,
    406.4,
    410.7,
    0.34,
    0.28,
    "Hoffmann et al. 2022, arXiv 2203.15556, approach 3, as printed (rounded: textbook values only)",
)
HOFFX = ScalingFit(
    "HOFFX",
    1.69337,
    406.401,
    410.723,
    0.33917084,
    0.2849083,
    "Hoffmann et al. 2022, arXiv 2203.15556, approach 3, precision of the paper's LaTeX source",
)
SARD = ScalingFit(
    "SARD",
    1.69,
    406.4,
    410.7,
    0.336,
    0.283,
    "Sardana et al. 2023, arXiv 2401.00448, defaults of the authors' code",
)
HARM = ScalingFit(
    "HARM",
    1.62,
    406.4,
    410.7,
    0.336,
    0.283,
    "de Vries 2023, Go smol or go home, harmdevries.com, constants of the companion app",
)
"""E is 1.62 in the app and 1.69 where the other constants come from: the app's is kept, since k_N and k_D lack E."""
BESI = ScalingFit(
    "BESI",
    1.8172,
    482.01,
    2085.43,
    0.3478,
    0.3658,
    "Besiroglu et al. 2024, arXiv 2404.10102 (95 % intervals: alpha 0.317-0.373, beta 0.331-0.415)",
)

SCALING_FITS = (HOFF, HOFFX, SARD, HARM, BESI)
"""All published sets, to be looked up by `name`."""
