import Glibc

/// Runs all sides in turn; another one goes first in each round. One list of figures for each side.
func alternating<Figure>(
    rounds: Int, _ sides: [() throws -> Figure], afterEach: () -> Void = {}
) throws -> [[Figure]] {
    var figures: [[Figure]] = Array(repeating: [], count: sides.count)
    for round in 0..<rounds {
        for turn in sides.indices {
            let side = (turn + round) % sides.count
            figures[side].append(try sides[side]())
            afterEach()
        }
    }
    if getenv("STRATA_BENCH_ROUNDS") != nil, figures is [[Double]] { printError("\(figures)") }
    return figures
}
