import StrataModel
import StrataReplay
import StrataStore

/// Prints a replayed history: each commit, followed by the changes and notifications that a device receives.
struct PlayReport {
    private let playback: Playback
    private let isJSON: Bool
    private let output: Output
    private let box: PushQueue?
    private var feed: PlayedFeed?

    /// - Parameter actor: the receiver of changes and notifications; nil for none.
    init(_ playback: Playback, as actor: Actor?, isJSON: Bool, to output: Output) throws {
        (self.playback, self.isJSON, self.output) = (playback, isJSON, output)
        box = try actor.map { try playback.store.listen(as: $0) }
        feed = try actor.map { try PlayedFeed(playback.store, as: $0) }
        if actor != nil { playback.store.awaitNotifications() }
    }

    /// Writes a commit that has just been replayed.
    mutating func write(_ commit: PlayedCommit) throws {
        try isJSON ? writeJSON(commit) : writeText(commit)
        let state = ContainerState(playback.store)
        for change in try feed?.changes() ?? [] {
            try isJSON ? writeJSON(change, state) : writeText(change, state)
        }
        while let push = box?.takeWaiting() {
            try isJSON ? writeJSON(push, state) : writeText(push, state)
        }
    }

    // MARK: For people

    private func writeText(_ commit: PlayedCommit) throws {
        output.write("\(commit.offset)", .heading)
        output.write(" " as StaticString)
        output.write(Timestamp(microseconds: commit.time))
        output.write(" " as StaticString)
        if let actor = commit.actor {
            output.write("\(Printable.escaped(actor.user)) on \(Printable.escaped(actor.device))")
        } else {
            output.write("the service" as StaticString)
        }
        output.write(": \(commit.eventCount.counted("event"))")
        try output.endLine()
    }

    private func writeText(_ change: PlayedFeed.Change, _ state: ContainerState) throws {
        switch change {
        case .changed(let record):
            let values = try RecordDetail(record, in: state).valuesText()
            output.write("    changed  \(Self.text(record.id)), \(Printable.escaped(try record.type))")
            if !values.isEmpty { output.write("  \(values)") }
        case .deleted(let id, let type): output.write("    deleted  \(Self.text(id)), \(Printable.escaped(type))")
        case .zoneDeleted(let zone, let reason):
            output.write("    deleted  zone \(Printable.escaped(zone.name)), \(reason.name)")
        }
        try output.endLine()
    }

    private func writeText(_ push: Push, _ state: ContainerState) throws {
        output.write("    push     \(Printable.escaped(push.subscriptionID)): ")
        switch push.subject {
        case .database: output.write("database \(push.scope.name)")
        case .zone(let zone): output.write("zone \(Printable.escaped(zone.name))")
        case .record(let id, let reason): output.write("\(Self.text(id)) \(reason)")
        }
        for key in push.fields.keys.sorted() {
            guard let value = push.fields[key] else { continue }
            output.write("  \(Printable.escaped(key))=\(try Self.detail(push, state).text(of: value))")
        }
        if let badge = push.badge { output.write(", badge \(badge)") }
        try output.endLine()
    }

    private static func text(_ id: RecordID) -> String {
        "\(Printable.escaped(id.zone.name))/\(Printable.escaped(id.name))"
    }

    private static func detail(_ push: Push, _ state: ContainerState) -> ValueDetail {
        guard case .record(let id, _) = push.subject else { return ValueDetail(state: state, zone: "") }
        return ValueDetail(state: state, zone: id.zone.name)
    }

    // MARK: For programs

    private func writeObject(_ body: (inout JSONWriter) throws -> Void) throws {
        var json = JSONWriter(output)
        json.beginObject()
        try body(&json)
        json.endObject()
        try output.endLine()
    }

    private func writeJSON(_ commit: PlayedCommit) throws {
        try writeObject { json in
            json.field("offset", commit.offset)
            json.field("time", commit.time)
            if let actor = commit.actor {
                json.field("userName", actor.user)
                json.field("deviceName", actor.device)
            }
            json.field("events", commit.eventCount)
        }
    }

    private func writeJSON(_ change: PlayedFeed.Change, _ state: ContainerState) throws {
        try writeObject { json in
            switch change {
            case .changed(let record):
                json.field("change", "changed")
                try RecordDetail(record, in: state).writeFields(to: &json)
            case .deleted(let id, let type):
                json.field("change", "deleted")
                json.field("name", id.name)
                json.field("zone", id.zone.name)
                json.field("type", type)
            case .zoneDeleted(let zone, let reason):
                json.field("change", "deleted")
                json.field("zone", zone.name)
                json.field("reason", reason.name)
            }
        }
    }

    private func writeJSON(_ push: Push, _ state: ContainerState) throws {
        try writeObject { json in
            json.field("push", push.id)
            json.field("subscription", push.subscriptionID)
            json.field("database", push.scope.name)
            json.field("offset", push.version.offset)
            switch push.subject {
            case .database: break
            case .zone(let zone): json.field("zone", zone.name)
            case .record(let id, let reason):
                json.field("zone", id.zone.name)
                json.field("record", id.name)
                json.field("reason", "\(reason)")
            }
            if let badge = push.badge { json.field("badge", badge) }
            if push.fields.isEmpty { return }
            json.beginObject("fields")
            for key in push.fields.keys.sorted() {
                guard let value = push.fields[key] else { continue }
                json.key(key)
                try Self.detail(push, state).write(value, to: &json)
            }
            json.endObject()
        }
    }
}
