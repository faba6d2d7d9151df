import StrataLog
import StrataModel
import StrataReplication
import StrataSystem

/// The details that `info` prints of a store on a sequencer. All its entries are read, and nothing is written.
struct SequencerInfo {
    let address: String
    let identity: StoreIdentity
    /// The first entry that can be read, and the last one.
    let first: UInt64
    let last: UInt64
    let end: Position
    let lastTime: Int64?
    /// The number of assets that the cluster keeps; nil unless the address says that it keeps them.
    let assets: Int?
    /// The last erasure that the entries still have; nil if there is none.
    let erasure: ErasureProgress?

    init(_ address: SequencerAddress) throws {
        self.address = address.place.address
        if address.place.assets == .cluster, let objects = try address.place.objects(Platform()) {
            defer { objects.close() }
            // A cluster with a problem must not hide the facts about the entries.
            assets = try? objects.list().count
        } else {
            assets = nil
        }
        (identity, first, last, end, lastTime, erasure) = try address.withSequencer { sequencer in
            var history = try SequencedHistory(sequencer, in: address.place.filesDirectory)
            let last = try sequencer.last()
            while try history.next(through: last) != nil { Progress.note(history.number, of: last) }
            return (
                history.identity, history.first, history.number, history.end, history.endTime,
                try ErasureProgress(history, in: address.place.filesDirectory)
            )
        }
    }

    func write(to output: Output) throws {
        func line(_ label: String, _ value: String) {
            output.write(label.padded(to: 12) + Printable.escaped(value) + "\n")
        }
        line("sequencer", address)
        line("container", identity.containerIdentifier)
        line("id", identity.storeID.description)
        line("created", "\(Timestamp(microseconds: identity.created))")
        line("entries", "\(first) to \(last)")
        if let assets { line("assets", "\(assets) in the cluster") }
        if let lastTime { line("last", "\(Timestamp(microseconds: lastTime))") }
        try output.writeLine("end         \(end)")
        guard let erasure else { return }
        try output.writeLine("erasure     commit \(erasure.offset)")
        try erasure.write(to: output, address, indent: 12)
    }
}

extension ErasureProgress {
    /// Writes which copies have not carried it out, and until when the sequencer has the data.
    func write(to output: Output, _ address: String, indent: Int = 0) throws {
        func line(_ text: String) throws {
            try output.writeLine(String(repeating: " ", count: indent) + Printable.escaped(text))
        }
        if let waiting {
            let erased = copyCount - waiting.count
            try line("erased in \(erased) of \(copyCount.counted("copy", "copies")), as far as they have noted")
            for copy in waiting {
                try line("not yet: \(copy.path), last heard of at \(Timestamp(microseconds: copy.time))")
            }
        } else {
            try line("the copies that have erased it are noted in the directory that --files names")
        }
        // A trim needs the directory that all processes share, which only the address of a directory implies.
        let files = address.hasPrefix("file:") ? "" : " --files DIRECTORY"
        try line("the sequencer has the data until 'strata trim \(address) --before \(trimBefore)\(files)'")
    }

    /// The directories of the copies that have not carried it out; nil if they are not known.
    var waitingPaths: [String]? { waiting?.map(\.path) }
}

extension SequencerInfo: Shaped {
    static let shape = Shape<Self>("What `info` prints of a sequencer") {
        Key("address", "the sequencer's address without passwords") { $0.address }
        Key("container", "container identifier") { $0.identity.containerIdentifier }
        Key("storeID", "id of the store") { $0.identity.storeID }
        Key("created", "when") { $0.identity.created }
        Key("firstEntry", "number of the first entry that can be read, 1 unless earlier ones were trimmed") { $0.first }
        Key("lastEntry", "number of the last entry") { $0.last }
        Key("end", "last offset") { $0.end.offset }
        Key("chain", "chain value there") { Hexadecimal($0.end.chain) }
        Key("lastTime", "time of the last commit, or null if there is none") { $0.lastTime }
        Key("assets", "how many assets the cluster keeps, or null unless the address has assets=cluster") { $0.assets }
        Key("erasure", "the last commit that erases records, if the entries have one") { $0.erasure?.offset }
        Key("trimBefore", "the sequencer has the data until it is trimmed before this commit") {
            $0.erasure?.trimBefore
        }
        Key("waiting", "directories of the copies that have not erased it, or null if they are not known") {
            $0.erasure?.waitingPaths
        }
    }
}
