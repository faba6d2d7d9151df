import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The result of `verify --against`: whether two directories or sequencers have the same history of a store.
struct HistoryAgreement {
    /// The other directory or address, as given.
    let other: String
    let comparison: HistoryComparison
    /// The number of commits that only the store has, and that only the other one has.
    let surplus: UInt64
    let missing: UInt64
    /// True if the other one orders the commits, so that it must have all of them.
    let otherIsSequencer: Bool

    /// - Throws: `.invalidArgument` if the other one is another store.
    init(_ path: String, against other: String, _ arguments: Arguments) throws {
        let reader = try Self.open(path)
        let isAddress = SequencerAddress.isMeant(by: other)
        func compare(_ path: String) throws -> (HistoryComparison, UInt64) {
            let otherReader = try Self.open(path)
            guard otherReader.identity.storeID == reader.identity.storeID else {
                throw StrataError(
                    .invalidArgument, "The store to compare with is another store.",
                    .init(
                        path: other, expected: "\(reader.identity.storeID)",
                        found: "\(otherReader.identity.storeID)"))
            }
            return (try HistoryComparison(reader, otherReader) { Progress.note($0, of: $1) }, otherReader.end.offset)
        }
        let end: UInt64
        if isAddress {
            let address = try SequencerAddress(other).withFiles(of: arguments)
            (comparison, end) = try AddressCopy.reading(address, in: nil, compare)
        } else {
            try StoreAccess.requireDirectory(other)
            (comparison, end) = try compare(other)
        }
        self.other = other
        surplus = reader.end.offset - comparison.last
        missing = end - comparison.last
        otherIsSequencer = isAddress
    }

    private static func open(_ path: String) throws -> LogReader {
        try LogReader.open(at: path, extent: .written, platform: Platform(files: ReadOnlyFiles()))
    }

    var isWhole: Bool { comparison.difference == nil && !(otherIsSequencer && surplus > 0) }

    func write(to output: Output) {
        let name = Printable.escaped(other)
        if let difference = comparison.difference {
            output.write("differs", .damage)
            output.write(" from \(name) from commit \(difference) on")
            return
        }
        output.write(isWhole ? "agrees" : "differs", isWhole ? .added : .damage)
        output.write(isWhole ? " with \(name) up to commit " : ": \(name) has only the commits up to ")
        output.write("\(comparison.last)")
        if surplus > 0 { output.write("; \(surplus.counted("commit")) only here") }
        if missing > 0 { output.write("; \(missing.counted("commit")) only there") }
        if !isWhole {
            output.write("\n  advice: the sequencer has lost commits; 'strata replicate --repair' gives them back")
        }
    }
}

extension HistoryAgreement: Shaped {
    static let shape = Shape<Self>("An agreement of two histories") {
        Key("other", "the other directory or address, as given") { $0.other }
        Key("ok", "true if no commit differs, and a sequencer has all commits of the store") { $0.isWhole }
        Key("first", "the first commit that both have") { $0.comparison.first }
        Key("last", "the last commit that both have") { $0.comparison.last }
        Key("difference", "the first commit that differs, or null if none does") { $0.comparison.difference }
        Key("surplus", "how many later commits only the store has") { $0.surplus }
        Key("missing", "how many later commits only the other one has") { $0.missing }
    }
}
