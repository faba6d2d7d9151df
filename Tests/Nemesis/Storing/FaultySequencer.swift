import StrataModel
import StrataReplication
import StrataSystem

/// A bug that is put in on purpose, which the checker has to notice.
enum InjectedFault: String, CaseIterable, Sendable {
    /// The process acknowledges a save before it appends.
    case early
    /// The sequencer reports some entries as refused that it has, as if a missing answer were a refusal.
    case hasty
    /// The end is not confirmed: the sequencer's last entry is the last one that this process has read.
    case unconfirmed
}

/// A sequencer that has a bug; without one, it only passes everything on.
final class FaultySequencer: Sequencer {
    private let sequencer: any Sequencer
    private let fault: InjectedFault?
    private let state = Lock((appends: 0, seen: 0 as UInt64))

    /// One entry of this number is reported as refused.
    private static let hastyEntries = 20

    init(_ sequencer: any Sequencer, _ fault: InjectedFault?) {
        self.sequencer = sequencer
        self.fault = fault
    }

    var maximumEntryBytes: Int { sequencer.maximumEntryBytes }

    func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        let answer = sequencer.append(entry, id: id, expecting: expecting)
        guard fault == .hasty, case .accepted = answer else { return answer }
        let count = state.withLock { state in
            state.appends += 1
            return state.appends
        }
        guard count % Self.hastyEntries == 0 else { return answer }
        return .refused(StrataError(.inputOutput, "There was no answer."))
    }

    func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        let entries = try sequencer.entries(after: number, waitingMilliseconds: milliseconds)
        state.withLock { $0.seen = max($0.seen, number + UInt64(entries.count)) }
        return entries
    }

    func last() throws -> UInt64 {
        fault == .unconfirmed ? state.withLock { $0.seen } : try sequencer.last()
    }

    func trim(through number: UInt64) throws -> UInt64 { try sequencer.trim(through: number) }
    func close() { sequencer.close() }
}
