import StrataModel

/// The answer of a probe about one state.
package enum BisectionVerdict: Sendable, Hashable {
    /// The condition does not hold in this state.
    case doesNotHold
    /// The condition holds in this state.
    case holds
    /// This state gives no answer.
    case cannotTell
}

/// The result of a binary search.
package enum BisectionOutcome: Sendable, Hashable {
    /// The condition holds after this commit, and not before it.
    case found(UInt64)
    /// One of these commits; the states between them give no answer.
    case oneOf(ClosedRange<UInt64>)
    /// The condition does not hold at the end.
    case never
    /// The condition holds at the beginning.
    case fromStart
    /// The state at this offset, the beginning or the end, gives no answer.
    case cannotTell(UInt64)
}

extension Bisection {
    /// Finds a commit by binary search, for probes that take long. The search assumes that a condition holds from where
    /// it begins to; if it does not, the answer is one of the commits with which it begins to hold.
    ///
    /// ```swift
    /// let outcome = try Bisection.search(from: 0, to: store.offset) { offset in
    ///     try fails(store.asOf(offset)) ? .holds : .doesNotHold
    /// }
    /// ```
    /// - Parameters:
    ///   - from: the state to begin with. Also probed, except for offset 0: the empty state is assumed not to satisfy
    ///     the condition.
    ///   - probe: called at most once for each offset.
    package static func search(
        from: UInt64, to: UInt64, probe: (_ offset: UInt64) throws -> BisectionVerdict
    ) rethrows -> BisectionOutcome {
        guard from <= to else { return .never }
        switch try probe(to) {
        case .doesNotHold: return .never
        case .cannotTell: return .cannotTell(to)
        case .holds: break
        }
        if from == to { return .fromStart }
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

    /// Returns the middle offset that has not been probed. After states without an answer, returns an offset far from
    /// the earlier attempts, since neighbors often give no answer either. Nil if none is left.
    private static func candidate(
        between low: UInt64, _ high: UInt64, _ silent: Set<UInt64>, _ attempt: UInt64
    ) -> UInt64? {
        let inside = low + 1..<high
        guard !inside.isEmpty else { return nil }
        // The attempt's bits reversed, as a fraction of the way: 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8 …
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
