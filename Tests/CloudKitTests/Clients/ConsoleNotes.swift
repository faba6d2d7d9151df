import StrataModel

@testable import CloudKit
@testable import StrataStore

extension CloudStore {
    /// What the log has of the console's doings, in their order: device and text.
    func consoleNotes() throws -> [String] {
        var notes: [String] = []
        for offset in 1...store.log.end.offset {
            guard let commit = try store.log.commit(at: offset) else { continue }
            for event in try Envelope(decoding: commit.payload).events where event.kind == .consoleActed {
                let note = try ConsoleActedEvent(decoding: event.body).note
                notes.append("\(note.device): \(note.text)")
            }
        }
        return notes
    }
}
