"""Traces of every kind, and bad ones one by one, each told with file and row."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulator.study import csv_rows
from simulator.study.csv_rows import TraceError
from simulator.study.usage import load_usage
from simulator.study.usage_csv import Columns, Kind, Unit, read_usage

Written = Callable[[list[str]], Path]
DAYS = ["date,total_tokens", "2026-06-01,1e9", "2026-06-02,2e9", "2026-06-03,3e9"]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    def write(rows: list[str]) -> Path:
        path = tmp_path / "usage.csv"
        path.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return path

    return write


def hourly(n_hours: int, first: datetime) -> list[str]:
    """Prompt tokens are 3 x the hour's number, completion tokens the hour's number, in thousands."""
    rows = ["timestamp,prompt_tokens,completion_tokens"]
    return rows + [f"{first + timedelta(hours=at)},{3000 * (at + 1)},{1000 * (at + 1)}" for at in range(n_hours)]


# --- kinds ----------------------------------------------------------------------------------------------


def test_a_row_per_day(written: Written) -> None:
    usage = load_usage(written([DAYS[0], "", *DAYS[1:]]))
    assert (usage.kind, usage.first_day, usage.last_day) == (Kind.DAY, date(2026, 6, 1), date(2026, 6, 3))
    assert usage.tokens.tolist() == [1e9, 2e9, 3e9]
    assert (usage.hours.shape, usage.prompt.size, usage.notes) == ((3, 0), 0, ())


def test_a_row_per_hour_leaves_partial_days_out_and_says_so(written: Written) -> None:
    usage = load_usage(written(hourly(18 + 24 + 5, datetime(2026, 6, 1, 6))))
    assert (usage.kind, usage.first_day, usage.tokens.size) == (Kind.STEP, date(2026, 6, 2), 1)
    assert usage.hours[0].tolist() == [4000.0 * (at + 1) for at in range(18, 42)]
    assert usage.tokens.tolist() == [sum(usage.hours[0])]
    (note,) = usage.notes
    assert note.startswith("2026-06-01 and 2026-06-03: not recorded from midnight to midnight")


@pytest.mark.parametrize("hours", [24, 48])
def test_whole_days_are_all_kept(written: Written, hours: int) -> None:
    usage = load_usage(written(hourly(hours, datetime(2026, 6, 1))))
    assert (usage.tokens.size, usage.notes) == (hours // 24, ())


def test_seconds_from_the_start_have_no_date_unless_one_is_given(written: Written) -> None:
    rows = ["t_seconds,input_tokens_est,output_tokens_est", *(f"{600 * at},2000,1000" for at in range(144))]
    assert not load_usage(written(rows)).is_dated
    dated = load_usage(written(rows), first_day=date(2025, 5, 5))
    assert (dated.is_dated, dated.first_day) == (True, date(2025, 5, 5))
    assert dated.hours[0].tolist() == [18_000.0] * 24


def test_requests_at_uneven_times_are_gathered(written: Written) -> None:
    rng = np.random.default_rng(1)
    times = np.sort(rng.uniform(0, 3 * 86_400, 3000))
    origin = datetime(2026, 6, 1)
    rows = [f"{origin + timedelta(seconds=at)},700,{50 + n % 3}" for n, at in enumerate(times.tolist())]
    usage = load_usage(written(["TIMESTAMP,ContextTokens,GeneratedTokens", *rows]))
    assert (usage.kind, usage.tokens.size, usage.prompt.size) == (Kind.REQUEST, 3, 3000)
    by_hand = np.histogram(times, 3 * 24, (0, 3 * 86_400), weights=750 + np.arange(3000) % 3)[0]
    assert usage.hours.ravel() == pytest.approx(by_hand)


@pytest.mark.parametrize("zone", ["+02:00", "Z"])
def test_a_time_zone_is_taken_off(written: Written, zone: str) -> None:
    rows = [f"2026-06-01T{at:02}:30:00{zone},1000" for at in range(24)]
    read = read_usage(written(["time,tokens", *rows]))
    begins = read.first_day, read.seconds[0] / 3600
    assert begins == ((date(2026, 5, 31), 22.5) if zone == "+02:00" else (date(2026, 6, 1), 0.5))


def test_unix_seconds_are_dates(written: Written) -> None:
    first = int(datetime(2026, 6, 1, tzinfo=UTC).timestamp())
    usage = load_usage(written(["timestamp,tokens", *(f"{first + 3600 * at},1000" for at in range(24))]))
    assert (usage.first_day, usage.tokens.tolist()) == (date(2026, 6, 1), [24_000.0])


def test_words_become_tokens_by_the_rule_of_thumb(written: Written) -> None:
    usage = load_usage(written(["day,n,unit", "2026-06-01,75e9,words per day"]), Columns(tokens="n", unit=Unit.WORDS))
    assert usage.tokens == pytest.approx([100e9])


def test_columns_may_be_named(written: Written) -> None:
    rows = ["sent,all,p,c", "2026-06-01,5e9,3e9,1e9"]
    by_pair = load_usage(written(rows), Columns(time="sent", prompt="p", completion="c"))
    assert (by_pair.tokens.tolist(), by_pair.prompt.tolist()) == ([4e9], [3e9])
    assert load_usage(written(rows), Columns(time="sent", tokens="all")).tokens.tolist() == [5e9]


def test_days_are_chosen(written: Written) -> None:
    usage = load_usage(written(DAYS), since=date(2026, 6, 2), until=date(2026, 6, 2))
    assert (usage.first_day, usage.tokens.tolist()) == (date(2026, 6, 2), [2e9])


@given(cuts=st.lists(st.integers(0, 71), min_size=2, max_size=2, unique=True).map(sorted))
def test_no_token_is_counted_twice_or_lost(cuts: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    """Whatever hours a trace begins and ends with: whole days hold exactly the tokens of their hours."""
    first, last = cuts
    path = tmp_path_factory.mktemp("trace") / "usage.csv"
    rows = [f"{datetime(2026, 6, 1) + timedelta(hours=at)},{1000 + at}" for at in range(first, last + 1)]
    path.write_text("\n".join(["time,tokens", *rows]), encoding="utf-8")
    if len(rows) < 2:
        return
    usage = load_usage(path)
    whole = [day for day in range(3) if first <= 24 * day and last >= 24 * day + 23]
    assert usage.tokens.tolist() == [sum(range(1000 + 24 * day, 1024 + 24 * day)) for day in whole]
    if whole:
        assert usage.first_day == date(2026, 6, 1 + whole[0])


# --- mistakes -------------------------------------------------------------------------------------------

HOURS = ["time,tokens", *(f"2026-06-01T{at:02}:00:00,1000" for at in range(10))]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], ":1: has no column of time"),
        (DAYS[:1], ":1: is empty: there is no row below the header"),
        (["when,total_tokens", "2026-06-01,1e9"], ":1: has no column of time (date, day, t_seconds"),
        (["date,n", "2026-06-01,1e9"], ":1: has no column of tokens (total_tokens, tokens); it has date, n; name it"),
        (["date,prompt_tokens", "2026-06-01,1e9"], ":1: has no column of tokens"),
        ([*DAYS, "2026-06-05,1e9"], ":5: date: no day may be left out (got 2026-06-05 after 2026-06-03: 1 missing)"),
        ([*DAYS, "2026-06-03,1e9"], ":5: date: a day may come once (got 2026-06-03 again)"),
        ([*DAYS, "2026-06-01,1e9"], ":5: date: days must be in order"),
        ([*DAYS, "2026-06-04,nan"], ":5: total_tokens: must be a finite number (got nan)"),
        ([*DAYS, "2026-06-04,inf"], ":5: total_tokens: must be a finite number (got inf)"),
        ([*DAYS, "2026-06-04,"], ":5: total_tokens: must be a number (got '')"),
        ([*DAYS, "2026-06-04,-1"], ":5: total_tokens: must not be negative (got -1)"),
        ([*DAYS, "2026-06-04,4.4T"], ":5: total_tokens: must be a plain number, without a letter for thousands"),
        ([*DAYS, "2026-06-04,0"], ":5: 2026-06-04: a day must have 1000 to 1e+18 tokens: is the unit another one?"),
        ([*DAYS, "2026-06-04,4.4"], "is the unit another one? (got 4.4)"),
        ([*DAYS, "2026-06-04,1e300"], "is the unit another one? (got 1e+300)"),
        ([*DAYS, "2026-06-04"], ":5: has 1 cells where the header has 2"),
        ([*DAYS, "04.06.2026,1e9"], ":5: date: must be a day like 2026-06-01 (got '04.06.2026')"),
        (["date,total_tokens", "1,1e9"], ":2: date: must be a day like 2026-06-01 (got '1')"),
        (["date,total_tokens", "0001-01-01,1e9"], ":2: time: the first day must be in the years 1970 to 2200"),
        (["date,tokens,unit", "2026-06-01,1e9,words"], ":2: unit: must be tokens, per row or per day (got 'words'); -"),
        (["date,tokens,unit", "2026-06-01,1e9,tokens per month"], ":2: unit: must be tokens, per row or per day"),
        ([*HOURS, "2026-06-01T12:00:00,1000"], ":12: time: no row may be left out (a step of 10800 s where the others"),
        ([*HOURS[:3], *HOURS[5:8:2], *HOURS[9:]], ":4: time: no row may be left out"),
        ([*HOURS, "2026-06-01T09:00:00,1000"], ":12: time: a time may come once"),
        ([*HOURS, "2026-06-01T03:00:00,1000"], ":12: time: rows must be in order of time"),
        ([*HOURS, "2026-06-01T10:00:00Z,1000"], ":12: time: either every row or none must have a time zone"),
        ([*HOURS, "10 o'clock,1000"], ":12: time: must be a day like 2026-06-01, a time like"),
        (["t_seconds,tokens", "0,1000", "420,1000", "840,1000"], ":3: rows must come at a step that divides a day"),
        (["t_seconds,tokens", "0,1000", "5,1000", "4,1000"], ":4: time: rows must be in order of time"),
        (["t_seconds,tokens", "0,1000", "5,1000", "9e9,1000"], ":4: time: must be within 36525 days of the first"),
        (["t_seconds,tokens", "1780000000000,1000"], ":2: t_seconds: must be in seconds (got 1780000000000)"),
        (["t_seconds,tokens", "0,1000", "7,1000", "4e5,1000", "4.1e5,1000"], "day 1: a day must have 1000"),
    ],
)  # fmt: skip
def test_a_bad_trace_is_refused_with_file_and_row(written: Written, rows: list[str], said: str) -> None:
    path = written(rows)
    with pytest.raises(TraceError) as refused:
        load_usage(path)
    first = str(refused.value).splitlines()[0]
    assert first.startswith(f"{path}:")
    assert said in first


@pytest.mark.parametrize(
    ("since", "until", "said"),
    [
        (date(2026, 5, 31), None, ":2: --from: must be a day of the trace, 2026-06-01 (row 2) to 2026-06-03 (row 4)"),
        (None, date(2026, 6, 4), ":4: --to: must be a day of the trace"),
        (date(2026, 6, 3), date(2026, 6, 2), ":2: --to: must not be before --from (got 2026-06-02)"),
    ],
)
def test_a_date_outside_the_trace_is_refused(
    written: Written, since: date | None, until: date | None, said: str
) -> None:
    path = written(DAYS)
    with pytest.raises(TraceError) as refused:
        load_usage(path, since=since, until=until)
    assert str(refused.value).startswith(f"{path}{said}")


def test_dates_of_a_trace_without_dates_are_refused(written: Written) -> None:
    path = written(["t_seconds,tokens", *(f"{3600 * at},1000" for at in range(30))])
    with pytest.raises(TraceError, match=r":2: --from: the rows have no dates; give --first-day"):
        load_usage(path, since=date(2026, 6, 1))
    with pytest.raises(TraceError, match=r":2: --first-day: the rows have dates of their own"):
        load_usage(written(DAYS), first_day=date(2026, 6, 1))


def test_tokens_named_twice_are_refused(written: Written) -> None:
    with pytest.raises(TraceError, match=r":1: has its tokens named twice"):
        load_usage(written(DAYS), Columns(tokens="total_tokens", prompt="p"))
    with pytest.raises(TraceError, match=r"did you mean 'total_tokens'"):
        load_usage(written(DAYS), Columns(tokens="totaltokens"))


def test_ten_mistakes_are_told_and_no_more(written: Written) -> None:
    with pytest.raises(TraceError) as refused:
        load_usage(written([DAYS[0], *(f"2026-06-{day:02},x" for day in range(1, 25))]))
    lines = str(refused.value).splitlines()
    assert len(lines) == 11
    assert lines[-1].endswith("and perhaps more; the first 10 are told")


def test_a_file_too_large_or_no_text_is_refused(written: Written, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(DAYS)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TraceError, match="is not UTF-8 text"):
        load_usage(path)
    monkeypatch.setattr(csv_rows, "LARGEST_CSV_BYTES", 2)
    with pytest.raises(TraceError, match="the largest trace that is read"):
        load_usage(path)
    with pytest.raises(TraceError, match="there is no such file"):
        load_usage(path.parent / "gone.csv")


@given(cells=st.lists(st.text(alphabet="0123456789.eE-+:TZ naif,", max_size=24), min_size=1, max_size=6))
def test_whatever_is_in_a_file_it_is_read_or_refused(
    cells: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("odd") / "usage.csv"
    path.write_text("\n".join(["time,tokens", *(f"{cell},1000" for cell in cells)]), encoding="utf-8")
    with suppress(TraceError):
        assert np.isfinite(load_usage(path).tokens).all()
