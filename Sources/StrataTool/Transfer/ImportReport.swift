import StrataLog
import StrataModel

/// The result of an import.
struct ImportReport {
    let path: String
    let content: ExportHeader.Content
    /// The number of commits or records.
    let count: UInt64
    /// The last offset of the new store.
    let endOffset: UInt64
    /// The chain value at that offset, for an import of commits.
    var endChain: UInt32?
    /// The first commit whose chain value differs from that in the exported store; nil if there is none.
    var firstOtherChain: UInt64?
    /// Notes on data that was not imported.
    var notes: [String] = []

    func write(to output: Output) throws {
        let noun = content == .commits ? "commit" : "record"
        output.write("\(count.counted(noun)) imported into \(Printable.escaped(path)); ")
        try output.writeLine("it ends with commit \(endOffset)")
        for note in notes {
            try output.writeLine("note: \(Printable.escaped(note))")
        }
    }

    /// Returns notes on data that exports never contain.
    static func notes(_ header: ExportHeader) -> [String] {
        var notes: [String] = []
        if header.hasAssets {
            notes.append("exports contain no asset files: copy the folder 'assets' of the old store")
        }
        if header.hasKeys {
            notes.append("exports contain no keys of encrypted values: copy the file 'keys' of the old store")
        }
        return notes
    }
}

extension ImportReport: Shaped {
    static let shape = Shape<Self>("What `import` prints") {
        Key("path", "of the new store") { $0.path }
        Key("content", "`commits` or `records`") { $0.content.rawValue }
        Key("count", "how many of them were imported") { $0.count }
        Key("end", "last offset of the new store") { $0.endOffset }
        Key("chain", "chain value there, or null for records") { $0.endChain.map { Hexadecimal($0) } }
        Key("sameChain", "true if chain values are those of the store that was exported") {
            $0.content == .commits && $0.firstOtherChain == nil
        }
        Key("notes", "the parts that were not imported") { $0.notes }
    }
}
