import StrataModel

/// What a look at one state says.
public enum BisectionVerdict: Sendable, Hashable {
    /// What is looked for has not happened yet.
    case doesNotHold
    /// It has happened.
    case holds
    /// This state does not tell.
    case cannotTell
}

/// What a search by halving found.
public enum BisectionOutcome: Sendable, Hashable {
    /// It holds after this commit, and not in front of it.
    case found(UInt64)
    /// One of these commits: the states between them do not tell.
    case oneOf(ClosedRange<UInt64>)
    /// It does not hold at the end.
    case never
    /// It holds at the beginning.
    case fromStart
    /// The state at the beginning or at the end does not tell.
    case cannotTell(UInt64)
}

extension Bisection {
    /// Finds a commit by halving, for what takes long to look at. It takes for granted that what begins to hold holds
    /// from there on; where that is not so, the answer is one of the commits with which it begins to.
    ///
    /// ```swift
    /// let outcome = try Bisection.search(from: 0, to: store.offset) { offset in
    ///     try fails(store.asOf(offset)) ? .holds : .doesNotHold
    /// }
    /// ```
    /// - Parameters:
    ///   - from: its state is asked too, unless it is 0, which is before everything.
    ///   - probe: is asked of each offset once at most.
    public static func search(
        from: UInt64, to: UInt64, probe: (_ offset: UInt64) throws -> BisectionVerdict
    ) rethrows -> BisectionOutcome {
        guard from < to else { return .never }
        switch try probe(to) {
        case .doesNotHold: return .never
        case .cannotTell: return .cannotTell(to)
        case .holds: break
        }
        if from > 0 {
            switch try probe(from) {
            case .holds: return .fromStart
            case .cannotTell: return .cannotTell(from)
            case .doesNotHold: break
            }
        }
        var (low, high) = (from, to)
        var silent: Set<UInt64> = []
        var attempt: UInt64 = 1
        while let offset = candidate(between: low, high, silent, attempt) {
            switch try probe(offset) {
            case .holds: (high, attempt) = (offset, 1)
            case .doesNotHold: (low, attempt) = (offset, 1)
            case .cannotTell:
                silent.insert(offset)
                attempt += 1
            }
        }
        return high - low == 1 ? .found(high) : .oneOf(low + 1...high)
    }

    /// The offset in the middle that has not been asked; after states that do not tell another place, far from the
    /// ones before, since neighbours are often silent together. Nil if there is none.
    private static func candidate(
        between low: UInt64, _ high: UInt64, _ silent: Set<UInt64>, _ attempt: UInt64
    ) -> UInt64? {
        let inside = low + 1..<high
        guard !inside.isEmpty else { return nil }
        // 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8 … of the way: the bits of the attempt mirrored.
        let part = Double(attempt.bitReversed) / 0x1p64
        let wanted = min(inside.upperBound - 1, low + max(1, UInt64(Double(high - low) * part)))
        if !silent.contains(wanted) { return wanted }
        let behind = (wanted..<inside.upperBound).first { !silent.contains($0) }
        return behind ?? (inside.lowerBound..<wanted).last { !silent.contains($0) }
    }
}

extension UInt64 {
    fileprivate var bitReversed: UInt64 {
        var (rest, reversed): (UInt64, UInt64) = (self, 0)
        for _ in 0..<UInt64.bitWidth {
            reversed = reversed << 1 | rest & 1
            rest >>= 1
        }
        return reversed
    }
}
