from burnish.bench.timing import interleaved, repeated


def _clock(log: list[str]):
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 1.0 if log and log[-1] == "slow" else 0.25
        return now

    return clock


def test_cases_take_turns_and_every_second_round_runs_backwards():
    order: list[str] = []
    interleaved({n: lambda n=n: order.append(n) for n in "ab"}, 2, warm_up=False)
    assert order == ["a", "b", "b", "a"]


def test_each_round_is_timed_by_itself():
    log: list[str] = []
    seconds = interleaved(
        {"slow": lambda: log.append("slow"), "fast": lambda: log.append("fast")}, 2, clock=_clock(log)
    )
    assert seconds == {"slow": [1.0, 1.0], "fast": [0.25, 0.25]}


def test_the_warm_up_is_not_counted():
    calls: list[int] = []
    interleaved({"": lambda: calls.append(0)}, 2)
    assert len(calls) == 3


def test_repeated_gives_the_median():
    ticks = iter([0, 1, 0, 5, 0, 2])
    assert repeated(lambda: None, 3, clock=lambda: next(ticks)) == 2
