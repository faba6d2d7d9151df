import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The result of a command that creates a store on a sequencer, or brings one place up to another.
struct ReplicationReport {
    /// The address or the directory that received the commits.
    let target: String
    let identity: StoreIdentity
    /// The number of commits that the target received.
    let commits: UInt64
    /// The end of the target.
    let end: Position
    /// The number of commits that the target has and the source does not.
    var surplus: UInt64 = 0
    var notes: [String] = []

    /// - Parameter verb: the first words of the line, such as `12 commits came`.
    func write(_ verb: String, asJSON: Bool, to output: Output) throws {
        if asJSON { return try output.writeJSON(self) }
        try output.writeLine(
            "\(verb); \(Printable.escaped(target)) ends with \(end.offset == 0 ? "no commit" : "commit \(end)")")
        for note in notes {
            try output.writeLine("note: \(Printable.escaped(note))")
        }
    }

    /// Returns notes on files of a store that are not part of its log.
    ///
    /// - Parameters:
    ///   - toSequencer: true if several processes write the target, which keep their keys in another form.
    ///   - address: the address that got the assets, if it says that the cluster keeps them.
    static func notes(on path: String, toSequencer: Bool, and address: SequencerAddress? = nil) throws -> [String] {
        let files = RealFileSystem()
        var notes: [String] = []
        let isMoved = address?.place.assets == .cluster
        if try !isMoved && files.exists(path + "/assets"), try !files.list(path + "/assets").isEmpty {
            notes.append("asset files are not copied: copy the folder 'assets' of \(path)")
        }
        if try files.exists(path + "/keys") {
            notes.append(
                toSequencer
                    ? "encrypted values cannot be read there: the keys in \(path) cannot be moved to several processes"
                    : "keys of encrypted values are not copied: copy the file 'keys' of \(path)")
        }
        return notes
    }
}

extension ReplicationReport: Shaped {
    static let shape = Shape<Self>("What `create`, `join`, `replicate` and `promote` print") {
        Key("target", "the address or the directory that received the commits, or was promoted") { $0.target }
        Key("storeID", "id of the store") { $0.identity.storeID }
        Key("container", "its container identifier") { $0.identity.containerIdentifier }
        Key("commits", "how many commits the target received") { $0.commits }
        Key("end", "last offset of the target") { $0.end.offset }
        Key("chain", "chain value there") { Hexadecimal($0.end.chain) }
        Key("surplus", "how many commits the target has that the source does not have") { $0.surplus }
        Key("notes", "the parts that were not copied, and the new state of the source") { $0.notes }
    }
}
