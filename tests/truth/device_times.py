"""Where the time of devices goes, by the definitions of docs/analysis.md, from a Raw file's events."""
import bisect


def united(intervals):
    out = []
    for start, end in sorted(i for i in intervals if i[1] > i[0]):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def length(intervals):
    return sum(end - start for start, end in intervals)


def common(a, b):
    """What two united lists both cover."""
    out, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        start, end = max(a[i][0], b[j][0]), min(a[i][1], b[j][1])
        if end > start:
            out.append([start, end])
        if a[i][1] < b[j][1]:
            i += 1
        else:
            j += 1
    return out


def within(gap, intervals):
    """What a united list covers of one interval."""
    at = bisect.bisect_right(intervals, gap[0], key=lambda i: i[1])
    out = []
    while at < len(intervals) and intervals[at][0] < gap[1]:
        out.append([max(gap[0], intervals[at][0]), min(gap[1], intervals[at][1])])
        at += 1
    return out


def quantile(values, share):
    """With linear interpolation between the ordered values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def outlying(durations):
    """Whether each differs much from the median, from five on that are neither warm-up nor last."""
    steady = durations[2:-1]
    if len(steady) < 5:
        return [False] * len(durations)
    middle = quantile(steady, 0.5)
    reach = max(5 * 1.4826 * quantile([abs(d - middle) for d in steady], 0.5), 0.5 * middle)
    return [2 <= i < len(durations) - 1 and abs(d - middle) > reach for i, d in enumerate(durations)]


def roles(durations):
    """The first two warm up, the last ends with the program; outliers are apart from five steady ones on, unless they
    take much of the time."""
    out = ["steady"] * len(durations)
    if len(durations) < 2:
        return out
    out[:2] = ["warm-up"] * min(2, len(out))
    out[-1] = "last"
    steady = [d for d, role in zip(durations, out) if role == "steady"]
    if len(steady) < 5:
        return out
    apart = outlying(durations)
    middle = quantile(steady, 0.5)
    long = [d for d, is_apart in zip(durations, apart) if is_apart and d >= middle]
    if sum(long) >= (0.1 if len(long) >= 3 else 0.5) * sum(steady):
        return out
    return ["outlier" if is_apart else role for role, is_apart in zip(out, apart)]


def steps(raw):
    """(start, end, role) of the steps that the file marks; what follows the last is one, too. Time between two steps
    belongs to the later one."""
    if not raw.marks:
        return []
    numbers = sorted(raw.marks)
    starts = [raw.marks[numbers[0]][0]]
    for before, number in zip(numbers, numbers[1:]):
        own, end = raw.marks[number][0], raw.marks[before][1]
        starts.append(min(own, end) if number == before + 1 else own)
    starts.append(raw.marks[numbers[-1]][1])
    if raw.end > starts[-1]:
        starts.append(raw.end)
    spans = list(zip(starts, starts[1:]))
    return [(a, b, role) for (a, b), role in zip(spans, roles([b - a for a, b in spans]))]


class Device:
    """One device of one process."""

    def __init__(self, raw, number):
        self.work = [w for w in raw.work if w.device == number]
        self.carried = []
        first_step = raw.device_steps.get(number)
        if first_step is not None:
            left_out = [w for w in self.work if w.start < first_step and w.launch is None]
            if len(left_out) < len(self.work):
                self.carried = left_out
        carried = set(map(id, self.carried))
        kept = [w for w in self.work if id(w) not in carried]
        self.begin, self.end = min(w.start for w in kept), max(w.end for w in kept)
        steady = [s for s in steps(raw) if s[2] == "steady"]
        inside = [w for w in kept if steady and w.end > steady[0][0] and w.start < steady[-1][1]]
        if len(steady) >= 3 and inside:
            self.begin, self.end, kept = steady[0][0], steady[-1][1], inside
        self.work = sorted(kept, key=lambda w: (w.start, w.end))
        self.span = self.end - self.begin
        self.divide()
        self.explain(raw)

    def cut(self, chosen):
        return united([(max(w.start, self.begin), min(w.end, self.end)) for w in self.work if chosen(w)])

    def divide(self):
        self.computation = self.cut(lambda w: w.computes)
        self.collectives = self.cut(lambda w: w.kind == "collective")
        self.copies = self.cut(lambda w: w.kind == "copy")
        self.busy = self.cut(lambda w: True)
        both = length(united(self.computation + self.collectives))
        self.exposed_communication = both - length(self.computation)
        self.exposed_copies = length(self.busy) - both
        edges = [self.begin] + [t for i in self.busy for t in i] + [self.end]
        self.gaps = [(a, b) for a, b in zip(edges[::2], edges[1::2]) if b > a]
        self.idle = length(self.gaps)
        self.kernels = [w for w in self.work if w.kind == "kernel"]

    def explain(self, raw):
        """Each gap by the launch of the work that ends it."""
        waits = united(raw.data_waits)
        waiting = ("cudaMemcpy", "hipMemcpy")
        synchronising = united([(c.start, c.end) for c in raw.calls if "Synchronize" in c.name or c.name in waiting])
        launching = united([(c.start, c.end) for c in raw.calls
                            if ("LaunchKernel" in c.name or "ModuleLaunch" in c.name) and "GraphLaunch" not in c.name])
        self.causes = dict.fromkeys(["host wait", "data wait", "synchronisation", "kernel wait", "idle"], 0)
        self.cause_of, self.short_wait, self.launching = [], 0, 0
        at = 0
        for gap in self.gaps:
            while at < len(self.work) and self.work[at].start < gap[1]:
                at += 1
            launch = self.work[at].launch if at < len(self.work) else None
            size = gap[1] - gap[0]
            if launch is None or launch.start < gap[0]:
                cause = "kernel wait" if launch is not None and size <= 10000 else "idle"
                self.causes[cause] += size
                self.cause_of.append(cause)
                continue
            data = within(gap, waits)
            taken = united(data + within(gap, synchronising))
            synchronised = length(taken) - length(data)
            host = size - length(taken)
            self.causes["data wait"] += length(data)
            self.causes["synchronisation"] += synchronised
            self.causes["host wait"] += host
            self.cause_of.append("data wait" if 2 * length(data) >= size else
                                 "synchronisation" if 2 * synchronised >= size else "host wait")
            if size < 1000000:
                calls = within(gap, launching)
                self.short_wait += host
                self.launching += length(calls) - length(common(calls, taken))


class Devices:
    def __init__(self, raw):
        self.all = [Device(raw, number) for number in sorted({w.device for w in raw.work})]
        self.span = sum(d.span for d in self.all)
        self.work = [w for d in self.all for w in d.work]

    def total(self, of):
        return sum(of(d) for d in self.all)

    def share(self, of):
        return self.total(of) / self.span

    def hidden_copies(self, d):
        return length(d.copies) - d.exposed_copies
