"""What each finding's numbers must be: for each rule the pattern of its verdict, and how its numbers follow from
the raw events. RULES[id] = (pattern with a group for each number, function of Facts and finding -> numbers)."""
import math
import re
from collections import Counter, defaultdict

import device_times
from device_times import length, quantile, united, within


class Facts:
    def __init__(self, kind, raw, report):
        self.kind, self.raw, self.report = kind, raw, report
        self._devices = None

    @property
    def devices(self):
        if self._devices is None:
            self._devices = device_times.Devices(self.raw)
        return self._devices


PERCENT = r"[\d.]+ %"
LENGTH = r"[\d.]+ (?:ns|us|ms|s|min)"
SIZE = r"[\d.]+ (?:B|KiB|MiB|GiB)"


def named(**groups):
    return {name: "(?P<%s>%s)" % (name, pattern) for name, pattern in groups.items()}


# --- devices ---------------------------------------------------------------------------------------------


def idle(facts, _):
    d = facts.devices
    causes = Counter()
    for device in d.all:
        causes.update(device.causes)
    name, most = max(causes.items(), key=lambda item: item[1])
    share, busy = d.share(lambda x: x.idle), d.share(lambda x: length(x.busy))
    return {"idle": share, "kernels": sum(len(x.kernels) for x in d.all), "span": d.span,
            "cause": "unknown" if name == "idle" else name, "cause_share": most / d.span,
            "gain": (0, min(share, busy))}


def long_gaps(facts, _):
    d = facts.devices
    gaps = [(b - a, cause) for x in d.all for (a, b), cause in zip(x.gaps, x.cause_of) if b - a >= 1000000]
    share = sum(g for g, _ in gaps) / d.span
    longest, cause = max(gaps)
    return {"gaps": len(gaps) if len(gaps) > 1 else "One gap", "longest": longest,
            "cause": "unknown" if cause == "idle" else cause, "share": share,
            "gain": (0, min(share, d.share(lambda x: length(x.busy))))}


def launch_bound(facts, _):
    d = facts.devices
    medians = [quantile([k.end - k.start for k in x.kernels], 0.5) for x in d.all if x.kernels]
    wait = d.share(lambda x: x.short_wait)
    return {"wait": wait, "kernels": sum(len(x.kernels) for x in d.all), "median": sum(medians) / len(medians),
            "gain": (d.share(lambda x: x.launching), wait)}


def of_kernels(facts, chosen):
    """Share of all device work, and of the wall time as far as computation is."""
    work = facts.devices.work
    time = lambda which: sum(w.end - w.start for w in work if which(w))
    part = time(lambda w: w.computes and chosen(w.name))
    computing = facts.devices.share(lambda x: length(x.computation))
    return part / time(lambda w: True), part / time(lambda w: w.computes) * computing


MATRIX = re.compile(r"gemm|Gemm|GEMM|Cijk_|conv|wgrad|dgrad|implicit_|cutlass::Kernel|winograd")
TENSOR = re.compile(r"s884|h884|s1688|h1688|16816|161616|xmma|wgmma|hmma|tensorop|MI16x16|MI32x32|imma|warpgroup")
PLAIN = re.compile(r"sgemm|simt|scudnn|volta_sgemm|maxwell_|ffma")
LAYOUT = re.compile(r"nchwToNhwc|nhwcToNchw|batched_transpose|transpose_readWrite|nchw2nhwc", re.I)


def without_tensor_cores(name):
    return bool(MATRIX.search(name) and PLAIN.search(name) and not TENSOR.search(name))


def tensor_cores(facts, finding):
    share, wall = of_kernels(facts, without_tensor_cores)
    times = Counter()
    for w in facts.devices.work:
        if without_tensor_cores(w.name):
            times[w.name] += w.end - w.start
    example = re.split(r"[<(]", times.most_common(1)[0][0].replace("void ", ""))[0].rstrip()
    # No row of the evidence may show more than the verdict counts.
    shown = sum(float(row["share"].split()[0]) / 100 for row in finding["evidence"]["rows"])
    return {"share": share if shown <= share + 0.003 else math.nan, "example": example, "gain": (0, 0.5 * wall)}


def layout(facts, _):
    share, wall = of_kernels(facts, LAYOUT.search)
    count = sum(1 for w in facts.devices.work if w.computes and LAYOUT.search(w.name))
    return {"kernels": count, "share": share, "gain": (0.5 * wall, wall)}


def free_computation(d):
    """That no copy runs beside."""
    return length(d.computation) - (length(d.copies) - d.exposed_copies)


def pageable(facts, _):
    d = facts.devices
    copies = [w for w in d.work if w.kind == "copy" and "Pageable" in w.name]
    time, size = sum(w.end - w.start for w in copies), sum(w.bytes for w in copies)
    exposed = 0
    for x in d.all:
        of_device = [w for w in x.work if w.kind == "copy" and "Pageable" in w.name]
        exposed += sum(w.end - w.start - length(within((w.start, w.end), x.computation)) for w in of_device)
    faster = exposed / d.span * max(0, 1 - (size / 12 + 5000 * len(copies)) / time)
    return {"copies": len(copies), "bytes": size, "rate": size * 1e9 / time, "share": time / d.span,
            "gain": (faster, min(exposed / d.span, faster + d.share(free_computation)))}


def copies_exposed(facts, _):
    d = facts.devices
    hideable = d.share(lambda x: min(x.exposed_copies, max(0, free_computation(x))))
    return {"share": d.share(lambda x: x.exposed_copies), "exposed": d.total(lambda x: x.exposed_copies),
            "total": d.total(lambda x: length(x.copies)), "copies": sum(w.kind == "copy" for w in d.work),
            "gain": (0.3 * hideable, hideable)}


# --- communication ---------------------------------------------------------------------------------------


def communication(facts, _):
    d = facts.devices
    exposed = d.share(lambda x: x.exposed_communication)
    return {"share": exposed, "total": d.share(lambda x: length(x.collectives)), "gain": (0.2 * exposed, exposed)}


def low_overlap(facts, _):
    d = facts.devices
    exposed, total = d.total(lambda x: x.exposed_communication), d.total(lambda x: length(x.collectives))
    free = d.share(lambda x: length(x.computation)) - (total - exposed) / d.span
    return {"overlap": 1 - exposed / total, "share": total / d.span,
            "gain": (0, max(0, min(exposed / d.span, free)))}


def host_device_copies(facts, _):
    times = defaultdict(list)
    for start, end, name, _thread in facts.raw.operators:
        times[name].append(end - start)
    copies = times["CopyCPU2GPU"] + times["CopyGPU2CPU"]
    share = sum(copies) / sum(map(sum, times.values()))
    return {"copies": len(copies), "share": share, "total": sum(copies), "longest": max(copies), "gain": (0, share)}


# --- batch -----------------------------------------------------------------------------------------------


def room(facts, _):
    d = facts.devices
    busy = d.share(lambda x: length(x.busy))
    peak = max(facts.raw.memory.values())
    total = max(int(x["totalGlobalMem"]) for x in facts.raw.devices.values())
    spread = min(d.share(lambda x: x.causes["host wait"]), 1 - busy) / 2
    return {"busy": busy, "peak": peak, "total": total, "share": peak / total, "gain": (0, spread)}


# --- input -----------------------------------------------------------------------------------------------


def loading(facts, part):
    """(share of the window, mean length) of the loader's ranges whose names have the part."""
    device = facts.devices.all[0]
    ranges = [(a, b) for a, b, name in facts.raw.loader_ranges if part in name and b > device.begin and a < device.end]
    inside = length(within((device.begin, device.end), united(ranges)))
    return inside / device.span, sum(b - a for a, b in ranges) / len(ranges)


def workers(facts, _):
    share, mean = loading(facts, "SingleProcessDataLoaderIter")
    bound = min(share, 1 - facts.devices.share(lambda x: length(x.busy)))  # within it a replay of the trace says the gain
    return {"load": mean, "step": mean / share, "share": share, "gain": (bound, bound)}


def input_bound(facts, _):
    steady = [b - a for a, b, role in all_steps(facts) if role == "steady"]
    waits = facts.devices.share(lambda x: x.causes["data wait"])
    step = sum(steady) / len(steady)
    return {"share": waits, "wait": waits * step, "step": step, "gain": (waits, waits)}


# --- oneDNN ----------------------------------------------------------------------------------------------


def reorder(facts, _):
    primitives = facts.raw.primitives
    chosen = [p.length for p in steady_primitives(facts) if p.name == "reorder"]
    share = sum(chosen) / sum(p.length for p in steady_primitives(facts))
    return {"share": share, "time": sum(chosen), "count": len(chosen), "gain": (0.3 * share, share)} if primitives else {}


def unfused(facts, _):
    producers, consumers = {"convolution", "matmul", "inner_product"}, {"eltwise", "sum", "binary"}
    primitives = facts.raw.primitives
    pairs = [b for a, b in zip(primitives, primitives[1:]) if a.name in producers and b.name in consumers
             and "post_ops" not in a.attributes and "post-ops" not in a.attributes]
    share = sum(p.length for p in pairs) / sum(p.length for p in primitives)
    return {"pairs": len(pairs), "share": share, "gain": (0.5 * share, share)}


def repetition(primitives):
    """(first, period) of the sequence that repeats; None where none does."""
    keys = [p.key for p in primitives]
    for period in range(1, len(keys) // 4 + 1):
        same = [i for i in range(len(keys) - period) if keys[i] == keys[i + period]]
        if not same or len(same) < 0.9 * (len(keys) - period) - 2 * period:
            continue
        first = same[0]
        while any(keys[i] != keys[i + period] for i in range(first, min(first + period, len(keys) - period))):
            first += 1
        return first, period
    return None


def log_steps(facts):
    """(start, end, role) of the repetitions of a log."""
    primitives = facts.raw.primitives
    found = repetition(primitives)
    if found is None:
        return []
    first, period = found
    starts = [primitives[i].start for i in range(first, len(primitives) - period + 1, period)]
    ends = starts[1:] + [primitives[-1].start + primitives[-1].length]
    durations = [b - a for a, b in zip(starts, ends)]
    return [(a, b, role) for a, b, role in zip(starts, ends, device_times.roles(durations))]


def steady_primitives(facts):
    windows = [(a, b) for a, b, role in log_steps(facts) if role == "steady"]
    if len(windows) < 3:
        return facts.raw.primitives
    return [p for p in facts.raw.primitives if any(a <= p.start < b for a, b in windows)]


def stalls(facts, _):
    groups = defaultdict(list)
    for p in steady_primitives(facts):
        groups[p.key].append(p.length)
    total = sum(map(sum, groups.values()))
    stalled = [g for g in groups.values() if len(g) >= 20 and quantile(g, 0.9) >= max(20 * max(1, min(g)), 5 * quantile(g, 0.5))]
    low = sum(sum(g) - len(g) * min(quantile(g, 0.5), sum(g) / len(g)) for g in stalled) / total
    high = sum(sum(g) - len(g) * quantile(g, 0.1) for g in groups.values()) / total
    return {"groups": len(stalled), "share": sum(map(sum, stalled)) / total,
            "worst": max(quantile(g, 0.9) / max(1, min(g)) for g in stalled), "gain": (low, high)}


# --- quality ---------------------------------------------------------------------------------------------


def all_steps(facts):
    return log_steps(facts) if facts.kind == "onednn" else device_times.steps(facts.raw)


def noise(facts, _):
    steps = all_steps(facts)
    apart = device_times.outlying([b - a for a, b, _ in steps])
    steady = [b - a for a, b, role in steps if role == "steady"]
    usual = [b - a for (a, b, role), is_apart in zip(steps, apart) if role == "steady" and not is_apart]
    mean = sum(usual) / len(usual)
    spread = math.sqrt(sum((x - mean) ** 2 for x in usual) / (len(usual) - 1))
    return {"cov": spread / mean, "median": quantile(steady, 0.5), "p90": quantile(steady, 0.9)}


def outliers(facts, _):
    steps = all_steps(facts)
    durations = [b - a for a, b, _ in steps]
    apart = device_times.outlying(durations)
    looked_at = durations[2:-1]
    usual = [d for d, is_apart in zip(looked_at, apart[2:-1]) if not is_apart]
    mean = sum(usual) / len(usual)
    long = [d for d, is_apart in zip(durations, apart) if is_apart and d > mean]
    return {"outliers": sum(apart), "iterations": len(steps), "median": quantile(usual, 0.5), "longest": max(long),
            "share": sum(long) / sum(looked_at), "extra": sum(d - mean for d in long) / sum(looked_at),
            "gain": (0.0, sum(d - mean for d in long) / sum(looked_at))}


def too_few(facts, _):
    steady = sum(role == "steady" for _, _, role in all_steps(facts))
    return {"steady": steady}


def carried_in(facts, _):
    d = facts.devices
    pieces = [w for x in d.all for w in x.carried]
    return {"pieces": len(pieces), "share": len(pieces) / (len(pieces) + len(d.work)),
            "total": sum(w.end - w.start for w in pieces)}


def one_rank(facts, _):
    return {"ranks": 1, "world": facts.raw.world_size}


def order_only(facts, _):
    return {"what": "the order of events, without the times at which they began" if facts.raw.order_only else "times"}


def rule(pattern, function, **groups):
    return re.sub(r"%\((\w+)\)s", lambda m: named(**groups)[m.group(1)], pattern), function


RULES = {
    "gpu/idle": rule(r"%(idle)s of the time nothing runs on .*?\(%(kernels)s kernels? in %(span)s\); the largest cause "
                     r"is %(cause)s \(%(cause_share)s\)", idle, idle=PERCENT, kernels=r"[\d,]+", span=LENGTH,
                     cause=".*?", cause_share=PERCENT),
    "gpu/long-gaps": rule(r"%(gaps)s (?:gaps )?of more than a millisecond, the longest %(longest)s \(its cause: %(cause)s\), "
                          r"makes? %(share)s of", long_gaps, gaps=r"\d+|One gap", longest=LENGTH, cause=".*?", share=PERCENT),
    "gpu/launch-bound": rule(r"%(wait)s of the time the device waits .*: the %(kernels)s kernels are short \(median %(median)s\)",
                             launch_bound, wait=PERCENT, kernels=r"[\d,]+", median=LENGTH),
    "gpu/tensor-cores-unused": rule(r"%(share)s of the devices' work are .*? no tensor cores \(%(example)s\)\.",
                                    tensor_cores, share=PERCENT, example=".*?"),
    "gpu/layout-transforms": rule(r"%(kernels)s kernels change between .*?, %(share)s of", layout, kernels=r"\d+", share=PERCENT),
    "gpu/pageable-copies": rule(r"%(copies)s copies with %(bytes)s come .*? at %(rate)s, %(share)s of", pageable,
                                copies=r"\d+", bytes=SIZE, rate=r"[\d.]+ [KMG]?B/s", share=PERCENT),
    "gpu/copies-exposed": rule(r"%(share)s of the devices' time only copies run \(%(exposed)s of %(total)s in %(copies)s copies",
                               copies_exposed, share=PERCENT, exposed=LENGTH, total=LENGTH, copies=r"\d+"),
    "communication/share": rule(r"%(share)s of the time nothing but communication runs(?: \(%(total)s with)?", communication,
                                share=PERCENT, total=PERCENT),
    "communication/low-overlap": rule(r"Only %(overlap)s of the communication \(%(share)s of the time\)", low_overlap,
                                      overlap=PERCENT, share=PERCENT),
    "communication/host-device-copies": rule(r"Copies to the .*? take %(share)s of all operator time "
                                             r"\(%(total)s in %(copies)s, the longest %(longest)s\)", host_device_copies,
                                             copies=r"\d+", share=PERCENT, total=LENGTH, longest=LENGTH),
    "batch/device-has-room": rule(r"busy %(busy)s of the time and holds %(peak)s of %(total)s at most \(%(share)s\)", room,
                                  busy=PERCENT, peak=SIZE, total=SIZE, share=PERCENT),
    "input/workers": rule(r"loads its batches: %(load)s of each %(step)s step, %(share)s of the time", workers, load=LENGTH,
                          step=LENGTH, share=PERCENT),
    "input/bound": rule(r"%(share)s of the time .*? waits for a batch.*?: %(wait)s of each %(step)s iteration", input_bound,
                        share=PERCENT, wait=LENGTH, step=LENGTH),
    "onednn/reorder-share": rule(r"%(share)s of the primitives' time \(%(time)s in %(count)s executions\)", reorder,
                                 share=PERCENT, time=LENGTH, count=r"\d+"),
    "onednn/unfused": rule(r"%(pairs)s times .*?: %(share)s of the primitives' time", unfused, pairs=r"\d+", share=PERCENT),
    "threads/stalls": rule(r"%(groups)s operators? with %(share)s of the operator time .*?\(the worst %(worst)s times the best\)", stalls,
                           groups=r"\d+", share=PERCENT, worst=r"\d+"),
    "quality/noise": rule(r"vary by %(cov)s .*?median %(median)s, p90 %(p90)s\)", noise, cov=PERCENT, median=LENGTH, p90=LENGTH),
    "quality/outliers": rule(r"%(outliers)s of %(iterations)s iterations differ much from the usual %(median)s \(up to "
                             r"%(longest)s\).*?take %(share)s of the time, %(extra)s more", outliers, outliers=r"\d+",
                             iterations=r"\d+", median=LENGTH, longest=LENGTH, share=PERCENT, extra=PERCENT),
    "quality/too-few-steps": rule(r"has %(steady)s steady iterations?", too_few, steady=r"\d+"),
    "quality/carried-in": rule(r"%(pieces)s pieces of device work \(%(share)s, %(total)s\)", carried_in, pieces=r"\d+",
                               share=PERCENT, total=LENGTH),
    "quality/one-of-many-ranks": rule(r"holds %(ranks)s of %(world)s ranks", one_rank, ranks=r"\d+", world=r"\d+"),
    "quality/order-only": rule(r"The trace holds %(what)s: gaps", order_only, what=".*?"),
}
