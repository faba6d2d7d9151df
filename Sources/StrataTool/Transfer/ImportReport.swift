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
        output.write("it ends with commit \(endOffset)")
        try output.endLine()
        for note in notes {
            output.write("note: \(Printable.escaped(note))")
            try output.endLine()
        }
    }

    func writeJSON(to output: Output) throws {
        var json = JSONWriter(output)
        json.beginObject()
        json.field("path", path)
        json.field("content", content.rawValue)
        json.field("count", count)
        json.field("end", endOffset)
        if let endChain { json.field("chain", hexadecimal: endChain) } else { json.null("chain") }
        json.field("sameChain", content == .commits && firstOtherChain == nil)
        json.beginArray("notes")
        for note in notes { json.value(note) }
        json.endArray()
        json.endObject()
        try output.endLine()
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
