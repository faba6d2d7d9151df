import StrataLog
import StrataModel

/// What became of an import.
struct ImportReport {
    let path: String
    let content: ExportHeader.Content
    /// Commits or records.
    let count: UInt64
    /// Of the new store.
    let endOffset: UInt64
    /// There, of an import of commits.
    var endChain: UInt32?
    /// The first commit whose chain value is not that of the store that was exported; nil if there is none.
    var firstOtherChain: UInt64?
    /// What was not taken over.
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

    /// Of what no export has.
    static func notes(_ header: ExportHeader) -> [String] {
        var notes: [String] = []
        if header.hasAssets {
            notes.append("the files of assets are not in an export: copy the folder 'assets' of the old store")
        }
        if header.hasKeys {
            notes.append("the keys of encrypted values are not in an export: copy the file 'keys' of the old store")
        }
        return notes
    }
}
