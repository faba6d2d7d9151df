import StrataLog
import StrataModel
import StrataStore

/// Finds what the console did to the requests of a device.
extension ExplanationBuilder {
    /// The number of commits after a request that are searched; a note is written within a second.
    private static let maximumCommits: UInt64 = 256

    /// Returns what the log notes about the device of the commit, such as that the response was lost. A note may come
    /// after the device's next request, and before the one after that.
    func notesOfConsole() throws -> [String] {
        let header = commit.envelope.header
        let actor = try store.snapshot().trees.namedActor(of: header)
        guard header.device != 0, !actor.device.isEmpty else { return [] }
        var (notes, laterRequests): ([String], Int) = ([], 0)
        let last = min(store.offset, commit.commit.offset + Self.maximumCommits)
        guard commit.commit.offset < last else { return [] }
        var cursor = try store.log.read(from: commit.commit.offset + 1)
        while let next = try cursor.next(), next.offset <= last {
            let (isNext, found) = try next.payload.withUnsafeBytes { payload in
                var walker = try EventWalker(payload)
                let found = try walker.header()
                var texts: [String] = []
                guard found.operationKind == .console else { return (found.device == header.device, texts) }
                while let event = try walker.next() {
                    guard event.kind == .consoleActed else { continue }
                    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: payload[event.body]))
                    let note = try ConsoleActedEvent(from: &reader).note
                    if isSameText(note.user, actor.user), isSameText(note.device, actor.device) {
                        texts.append(note.text)
                    }
                }
                return (false, texts)
            }
            if isNext { laterRequests += 1 }
            if laterRequests > 1 { break }
            notes += found.map { "Commit \(next.offset) notes about the device: \($0)." }
        }
        return notes
    }
}
