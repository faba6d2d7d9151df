import Glibc

extension SimulatedDisk {
    /// How a call fails.
    package enum FaultOutcome: Sendable {
        /// Nothing was done.
        case errno(Int32)
        /// A signal came first: EINTR, and nothing was done.
        case interrupted
        /// It was done, and then reported as failed.
        case doneThenErrno(Int32)
        /// Only so many bytes are written, which is no error.
        case shortWrite(Int)
        /// Only so many bytes are read, which is no error.
        case shortRead(Int)
        /// So many bytes are written, then it fails.
        case writeThenErrno(Int, Int32)
        /// The call reports success without having done anything.
        case ignored
        /// EIO, and the kernel forgets that the data was not written: reading shows it, no later sync writes it.
        case syncLoses

        func suits(_ kind: CallKind) -> Bool {
            switch self {
            case .errno, .interrupted, .doneThenErrno: true
            case .shortWrite, .writeThenErrno, .ignored: kind == .write
            case .shortRead: kind == .read
            case .syncLoses: kind == .syncData
            }
        }
    }

    struct Fault {
        let kind: CallKind
        /// Counted from when the fault was planned, 1 is the next.
        let calls: ClosedRange<Int>
        let pathPart: String?
        let outcome: FaultOutcome
        private var seenCalls = 0

        init(_ kind: CallKind, _ calls: ClosedRange<Int>, _ pathPart: String?, _ outcome: FaultOutcome) {
            precondition(calls.lowerBound >= 1, "calls are counted from 1")
            precondition(outcome.suits(kind), "such a call cannot fail this way")
            self.kind = kind
            self.calls = calls
            self.pathPart = pathPart
            self.outcome = outcome
        }

        func watches(_ kind: CallKind, _ path: String) -> Bool {
            guard kind == self.kind else { return false }
            guard let pathPart else { return true }
            return path.contains(pathPart)
        }

        mutating func isDueAtNextCall() -> Bool {
            seenCalls += 1
            return calls.contains(seenCalls)
        }
    }

    /// Lets one call of a kind fail: the `call`-th from now on, among those whose path contains `pathPart`.
    package func fail(_ kind: CallKind, at call: Int, with outcome: FaultOutcome, on pathPart: String? = nil) {
        plan(Fault(kind, call...call, pathPart, outcome))
    }

    /// Lets the `call`-th call of a kind from now on and all after it fail.
    package func fail(_ kind: CallKind, from call: Int, with outcome: FaultOutcome, on pathPart: String? = nil) {
        plan(Fault(kind, call...Int.max, pathPart, outcome))
    }

    /// Ends all planned faults and stuttering.
    package func heal() {
        state.withLock {
            $0.faults = []
            $0.stutter = nil
        }
    }

    /// From now on reads and writes are short, and they and syncs interrupted, at random: legal, and no error.
    package func stutter(seed: UInt64) {
        state.withLock { $0.stutter = SeededGenerator(seed: seed) }
    }

    private func plan(_ fault: Fault) {
        state.withLock { $0.faults.append(fault) }
    }
}

extension SimulatedDiskState {
    mutating func stutteredOutcome(of kind: SimulatedDisk.CallKind) -> SimulatedDisk.FaultOutcome? {
        guard [.read, .write, .syncData].contains(kind), let choice = stutter?.next(below: 4) else { return nil }
        let bytes = 1 + (stutter?.next(below: 64) ?? 0)
        switch (choice, kind) {
        case (0, _): return .interrupted
        case (1, .read): return .shortRead(bytes)
        case (1, .write): return .shortWrite(bytes)
        default: return nil
        }
    }
}
