import StrataModel
import StrataTree

/// The saves among a commit's events, including touches.
enum SavedVersions {
    struct Save {
        var index: UInt32
        var zone: UInt64
        var name: [UInt8]
        var isTouch: Bool
        var previous: Version?
    }

    /// A save by its names, which are the same in every timeline.
    struct Key: Hashable {
        var database: DatabaseID
        var zone: ExactName
        var name: [UInt8]
        var isTouch: Bool

        init(_ save: Save, _ state: some NameResolver) throws {
            let place = try state.zone(save.zone)
            database = place?.database ?? DatabaseID(.private)
            zone = ExactName(text: place?.name ?? "")
            name = save.name
            isTouch = save.isTouch
        }
    }

    /// Returns the indexes of saves by their names.
    static func indexes(of saves: [Save], in state: some NameResolver) throws -> [Key: UInt32] {
        Dictionary(try saves.map { (try Key($0, state), $0.index) }) { $1 }
    }

    /// Returns the tokens of shares that a commit saved, with those of the commit that replaces it. A share is found by
    /// its record's name, which is a UUID or the only one in its zone, and a one-time URL by its participant.
    static func movedTokens(
        from before: [ShareSavedEvent], to payload: ArraySlice<UInt8>
    ) throws -> [(old: String, new: String)] {
        if before.isEmpty { return [] }
        var moved: [(old: String, new: String)] = []
        var others = try shares(of: payload)
        for share in before {
            guard let place = others.firstIndex(where: { $0.record.name == share.record.name }) else { continue }
            let other = others.remove(at: place)
            moved.append((share.urlToken, other.urlToken))
            for token in share.oneTimeTokens {
                guard let same = other.oneTimeTokens.first(where: { $0.participant == token.participant }) else {
                    continue
                }
                moved.append((token.token, same.token))
            }
        }
        return moved.filter { $0.old != $0.new }
    }

    static func shares(of payload: ArraySlice<UInt8>) throws -> [ShareSavedEvent] {
        try payload.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            var shares: [ShareSavedEvent] = []
            while let event = try walker.next() {
                guard event.kind == .shareSaved else { continue }
                var body = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[event.body]))
                shares.append(try ShareSavedEvent(from: &body))
            }
            return shares
        }
    }

    static func saves(of payload: ArraySlice<UInt8>) throws -> [Save] {
        try payload.withUnsafeBytes { bytes in
            var walker = try EventWalker(bytes)
            var saves: [Save] = []
            while true {
                let index = UInt32(walker.eventIndex)
                guard let event = try walker.next() else { return saves }
                guard event.kind == .recordSaved else { continue }
                let view = try RecordSavedView(bytes, in: event.body)
                saves.append(
                    Save(
                        index: index, zone: view.zone, name: [UInt8](bytes[view.name]),
                        isTouch: view.change == .touch, previous: view.previous))
            }
        }
    }
}
