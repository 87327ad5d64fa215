"""Rates of events that are rare and cluster by scenario, such as severe errors.

What a system does wrong in one scenario it tends to do wrong each time it is asked, so ten
responses to one scenario may be worth little more than one. `rate_interval` is the one to publish;
`beta_binomial_interval` is a second opinion, which assumes a shape. `wilson`, `clopper_pearson` and
`jeffreys` are for independent trials only, such as one response a scenario.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from careeval.errors import StatsError
from careeval.stats.intervals import TAIL, Interval, count_clusters, linearised_ratio
from careeval.stats.score import FloatArray

_Z = float(special.ndtri(1 - TAIL))

# How far below its highest a profile log-likelihood falls at the ends of a 95% interval.
_LIKELIHOOD_DROP = _Z**2 / 2

# A search looks at this many places at once, then between the neighbours of the best, so often.
_PLACES = 17
_ZOOMS = 6


class BetaBinomial(NamedTuple):
    """Events out of n in each scenario, whose chance differs from scenario to scenario.

    Attributes:
        mean: The chance of an event in a new scenario, 0 to 1.
        rho: Correlation of two trials within a scenario: 0 where all scenarios share one chance, 1
            where a scenario has the event always or never.
    """

    mean: float
    rho: float


def rate_interval(counts: FloatArray, trials: FloatArray) -> Interval:
    """Interval of a rate of events that cluster by scenario, such as severe errors per opportunity.

    The exact interval for as many independent trials as these are worth: p (1 - p) / SE², at most
    their number, times (z / t)² with G - 1 degrees of freedom for the error in SE itself.

    With no event SE would be 0, for unknown; then each scenario counts as one trial, and the
    interval is 0 .. 1 - 0.025^(1 / G). It is two-sided: the one-sided `rule_of_three` is lower. A
    few events, one a scenario, do not look clustered either, and would be worth all their trials;
    so the upper limit is never below the one with no event. The same holds in the mirror, where
    every trial is an event.

    Args:
        counts: Events, shape (n_scenarios,), 0 to `trials`.
        trials: Trials, shape (n_scenarios,). A scenario with none is no cluster, and is left out.

    Returns:
        Fractions of the trials, 0 to 1.

    Raises:
        StatsError: There is no trial, a number is missing, or fewer than five scenarios have
            trials.

    Source: Korn and Graubard 1998, Survey Methodology 24:193; Clopper and Pearson 1934, Biometrika
    26:404.
    """
    tried = trials != 0
    if not tried.any():
        raise StatsError("no opportunity: the rate is 0 of 0")
    counts, trials = counts[tried], trials[tried]
    n_scenarios = count_clusters(counts, trials)
    reach = 1 - TAIL ** (1 / n_scenarios)  # of the exact interval with no event
    with_none, with_all = Interval(0.0, reach), Interval(1 - reach, 1.0)
    rate, standard_error = linearised_ratio(counts, trials)
    if rate == 0:
        return with_none
    if rate == 1:
        return with_all
    worth = float(trials.sum())
    if standard_error > 0:
        worth = min(worth, rate * (1 - rate) / standard_error**2)
    worth *= (_Z / float(special.stdtrit(n_scenarios - 1, 1 - TAIL))) ** 2
    low, high = clopper_pearson(rate * worth, worth)
    return Interval(min(low, with_all.low), max(high, with_none.high))


def drawn_rate_interval(counts: FloatArray, trials: FloatArray) -> Interval:
    """The same where trials were drawn by strata and are weighted back, so that they vary less.

    The exact interval for as many trials as they are worth, p (1 - p) / SE² times (z / t)². Strata
    can make that more than were drawn, so neither their number nor the limits with no event bound
    it, as they bound `rate_interval`: in simulated audits those made it twice as wide as it must
    be.

    Args:
        counts: Weight of the events, shape (n_scenarios,).
        trials: Weight of the trials. A scenario with none is left out.

    Returns:
        Fractions of the trials, 0 to 1; that of `rate_interval` where every trial or none is an
        event, or scenarios do not vary.

    Raises:
        StatsError: As `rate_interval`.

    Source: Korn and Graubard 1998, Survey Methodology 24:193.
    """
    tried = trials != 0
    with_few = rate_interval(counts, trials)
    n_scenarios = int(tried.sum())
    rate, standard_error = linearised_ratio(counts[tried], trials[tried])
    if not 0 < rate < 1 or standard_error == 0:
        return with_few
    worth = rate * (1 - rate) / standard_error**2
    worth *= (_Z / float(special.stdtrit(n_scenarios - 1, 1 - TAIL))) ** 2
    return clopper_pearson(rate * worth, worth)


def clopper_pearson(events: float, trials: float) -> Interval:
    """Exact interval of a proportion of independent trials; neither number needs to be whole.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Fractions, 0 to 1.

    Source: Clopper and Pearson 1934, Biometrika 26:404, as quantiles of the beta distribution.
    """
    low = special.betaincinv(events, trials - events + 1, TAIL) if events > 0 else 0.0
    high = special.betaincinv(events + 1, trials - events, 1 - TAIL) if events < trials else 1.0
    return Interval(float(low), float(high))


def wilson(events: float, trials: float) -> Interval:
    """Score interval of a proportion of independent trials: narrower than the exact one.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Fractions, 0 to 1; from 0 where there is no event, to 1 where there are only events.

    Source: Wilson 1927, doi:10.1080/01621459.1927.10502953; Newcombe 1998,
    doi:10.1002/(SICI)1097-0258(19980430)17:8<857::AID-SIM777>3.0.CO;2-E.
    """
    centre = events + _Z**2 / 2
    margin = _Z * np.sqrt(events * (trials - events) / trials + _Z**2 / 4)
    low, high = (centre - margin) / (trials + _Z**2), (centre + margin) / (trials + _Z**2)
    return Interval(
        float(low) if events > 0 else 0.0,
        float(high) if events < trials else 1.0,
    )


def jeffreys(events: float, trials: float) -> Interval:
    """Where a proportion of independent trials lies with 95% probability, if little was known.

    Args:
        events: Events, 0 to `trials`.
        trials: Trials, more than 0.

    Returns:
        Quantiles of Beta(events + 1/2, trials - events + 1/2); from 0 where there is no event, to 1
        where there are only events.

    Source: Brown, Cai and DasGupta 2001, doi:10.1214/ss/1009213286.
    """
    shape = events + 0.5, trials - events + 0.5
    low = special.betaincinv(*shape, TAIL) if events > 0 else 0.0
    high = special.betaincinv(*shape, 1 - TAIL) if events < trials else 1.0
    return Interval(float(low), float(high))


def rule_of_three(n: float) -> float:
    """The highest rate, with one-sided 95% confidence, of what n independent trials did not show.

    Args:
        n: Independent trials, more than 0: the scenarios, however often each was asked.

    Returns:
        1 - 0.05^(1/n), a little below 3/n.

    Source: Hanley and Lippman-Hand 1983, doi:10.1001/jama.1983.03330370053031.
    """
    return float(-np.expm1(np.log(0.05) / n))


def beta_binomial(counts: FloatArray, n: int) -> BetaBinomial:
    """Mean and within-scenario correlation of events, by maximum likelihood.

    Args:
        counts: Events of each scenario, whole, 0 to n, shape (n_scenarios,).
        n: Trials of every scenario, at least 2.

    Returns:
        The most likely mean, and the most likely correlation that is not negative.

    Raises:
        StatsError: As `beta_binomial_interval`.

    Source: Skellam 1948, JRSS-B 10:257; the likelihood in the product form of Griffiths 1973,
    doi:10.2307/2529131.
    """
    return _Likelihood.of(counts, n).highest()


def beta_binomial_interval(counts: FloatArray, n: int) -> Interval:
    """Profile-likelihood interval of the mean of a beta-binomial: about 20 ms.

    On simulated banks of 80 and 100 scenarios, with rates of 1 to 6%, it held the rate in 86 to 95%
    of them, no interval counting as a miss; `rate_interval` did in 94 to 99%.

    Args:
        counts: Events of each scenario, whole, 0 to n, shape (n_scenarios,).
        n: Trials of every scenario, at least 2.

    Returns:
        The means for which some correlation makes the counts likely enough; 0 to 1.

    Raises:
        StatsError: There are fewer than five scenarios, a number is missing or impossible, each
            scenario was tried less than twice, or there is no event or nothing but events: the
            correlation is then unknown.

    Source: the likelihood is that of `beta_binomial`; limits where it falls by half of the 95%
    point of chi-squared with one degree of freedom.
    """
    likelihood = _Likelihood.of(counts, n)
    mean = likelihood.highest().mean
    enough = likelihood.profile(np.array([mean]))[0][0] - _LIKELIHOOD_DROP
    # Between a mean that is likely enough and one that is not, at both ends at once.
    ends = np.array([0, 1])
    inside, outside = np.array([mean, mean]), np.array([0.0, 1.0])
    for _ in range(_ZOOMS):
        means = np.linspace(inside, outside, _PLACES)
        likely = likelihood.profile(means.ravel())[0].reshape(means.shape) >= enough
        first_unlikely = likely.argmin(axis=0)
        inside, outside = means[first_unlikely - 1, ends], means[first_unlikely, ends]
    return Interval(float(inside[0]), float(inside[1]))


class _Likelihood(NamedTuple):
    """Of beta-binomial counts: sums over j = 0 .. n - 1 of logarithms linear in the mean.

    Attributes:
        above: How many scenarios have more than j events, shape (n,).
        below: How many have more than j trials without the event, shape (n,).
        n_scenarios: How many there are.
    """

    above: FloatArray
    below: FloatArray
    n_scenarios: int

    @classmethod
    def of(cls, counts: FloatArray, n: int) -> _Likelihood:
        """The likelihood of counts that have one."""
        count_clusters(counts, np.full(len(counts), float(n)))
        if n < 2:
            raise StatsError("one trial a scenario says nothing of how its trials correlate")
        if ((counts < 0) | (counts > n) | (counts != np.rint(counts))).any():
            raise StatsError(f"a count is not a whole number from 0 to {n}")
        if not counts.any():
            raise StatsError("no event: how events correlate is unknown")
        if (counts == n).all():
            raise StatsError("nothing but events: how they correlate is unknown")
        j = np.arange(n)
        above = (counts[:, np.newaxis] > j).sum(axis=0)
        below = (n - counts[:, np.newaxis] > j).sum(axis=0)
        return cls(above.astype(np.float64), below.astype(np.float64), len(counts))

    def highest(self) -> BetaBinomial:
        """Where the likelihood is highest."""
        low, high = 0.0, 1.0
        for _ in range(_ZOOMS):
            means = np.linspace(low, high, _PLACES)
            values, rhos = self.profile(means)
            best = int(values.argmax())
            low, high = means[max(best - 1, 0)], means[min(best + 1, _PLACES - 1)]
        return BetaBinomial(float(means[best]), float(rhos[best]))

    def profile(self, means: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Of each mean the highest log-likelihood, and the correlation that it has it with."""
        low, high = np.zeros((len(means), 1)), np.ones((len(means), 1))
        row = np.arange(len(means))
        for _ in range(_ZOOMS):
            rhos = low + (high - low) * np.linspace(0, 1, _PLACES)
            values = self._at(means[:, np.newaxis], rhos)
            best = values.argmax(axis=1)
            low = rhos[row, np.maximum(best - 1, 0)][:, np.newaxis]
            high = rhos[row, np.minimum(best + 1, _PLACES - 1)][:, np.newaxis]
        return values[row, best], rhos[row, best]

    def _at(self, mean: FloatArray, rho: FloatArray) -> FloatArray:
        """The log-likelihood, less what depends on the counts alone."""
        # The terms of j = 0, in which what vanishes at rho = 1 is cancelled.
        mixed = self.above[0] + self.below[0] - self.n_scenarios
        first = self.above[0] * _log(mean) + self.below[0] * _log(1 - mean) + mixed * _log(1 - rho)
        j = np.arange(1, len(self.above))
        chance, other, apart = mean[..., np.newaxis], 1 - mean[..., np.newaxis], 1 - rho
        apart, shared = apart[..., np.newaxis], j * rho[..., np.newaxis]
        rest = (
            _log(chance * apart + shared) @ self.above[1:]
            + _log(other * apart + shared) @ self.below[1:]
            - _log(apart + shared).sum(axis=-1) * self.n_scenarios
        )
        return np.asarray(first + rest)


def _log(chances: FloatArray) -> FloatArray:
    """Logarithms; of 0, which makes a count impossible, -690, so that none of it is still 0."""
    return np.asarray(np.log(np.maximum(chances, 1e-300)))
