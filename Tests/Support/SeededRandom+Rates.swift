import StrataSystem

extension SeededRandom {
    /// Returns true for as many of 1,000 calls, on average.
    func happens(_ perThousand: Int) -> Bool { perThousand > 0 && next(below: 1_000) < UInt64(perThousand) }
}
