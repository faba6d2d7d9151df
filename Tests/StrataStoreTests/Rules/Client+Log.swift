import StrataLog
import StrataModel
import Testing

@testable import StrataStore

/// What a client's requests wrote.
extension Client {
    func commit(_ offset: UInt64) throws -> Commit { try #require(try store.log.commit(at: offset)) }

    func envelope(_ offset: UInt64) throws -> Envelope { try Envelope(decoding: try commit(offset).payload) }

    func events(at offset: UInt64) throws -> [Event] { try envelope(offset).events }

    /// The events of the last commit behind names and first writes.
    func lastKinds() throws -> [EventKind] {
        let envelope = try envelope(store.offset)
        let shape = try RequestShape(decoding: envelope.header.requestShape)
        return envelope.events.dropFirst(Int(shape.firstItemEvent)).map(\.kind)
    }

    /// The kinds of change of the last commit's saves of records.
    func lastChanges() throws -> [RecordSavedEvent.Change] {
        try events(at: store.offset).filter { $0.kind == .recordSaved }.map {
            try RecordSavedEvent(decoding: $0.body).change
        }
    }

    /// The record as a version had it.
    func record(_ name: String, at version: Version, in zone: String? = nil) throws -> Record? {
        try store.snapshot().record(id(name, in: zone), at: version, in: database, as: actor)
    }
}
