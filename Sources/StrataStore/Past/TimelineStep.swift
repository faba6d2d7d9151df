import StrataModel

/// A change of one field of a record, or of one of its links.
package struct TimelineChange {
    package enum Key: Hashable {
        case parent, share
        /// A field, by its ordinal.
        case field(UInt32)
    }

    package enum Before {
        case unknown
        /// The field had no value.
        case none
        case value(FieldValue)
    }

    package let key: Key
    package let before: Before
    /// Nil if the value was removed. Links are references.
    package let after: FieldValue?

    /// Returns the change with other values, such as decrypted ones.
    package func mappingValues(_ body: (FieldValue) throws -> FieldValue) rethrows -> TimelineChange {
        var before = before
        if case .value(let value) = before { before = .value(try body(value)) }
        return TimelineChange(key: key, before: before, after: try after.map(body))
    }

    /// Returns the differences between two states: links first, then fields by ordinal.
    package static func differences(from old: RecordState?, to new: RecordState?) -> [TimelineChange] {
        var changes: [TimelineChange] = []
        func compare(_ key: Key, _ old: FieldValue?, _ new: FieldValue?) {
            if FieldValue.isSame(old, new) { return }
            let before = old.map { Before.value($0) } ?? Before.none
            changes.append(TimelineChange(key: key, before: before, after: new))
        }
        func parent(of state: RecordState?) -> FieldValue? {
            state.flatMap { state in state.parent.map { value($0, isLoose: state.isParentLoose) } }
        }
        compare(.parent, parent(of: old), parent(of: new))
        compare(.share, old?.share.map { value($0) }, new?.share.map { value($0) })
        var (left, right) = ((old?.fields ?? [])[...], (new?.fields ?? [])[...])
        while let field = [left.first?.field, right.first?.field].compactMap(\.self).min() {
            let before = left.first?.field == field ? left.popFirst()?.value : nil
            let after = right.first?.field == field ? right.popFirst()?.value : nil
            compare(.field(field), before, after)
        }
        return changes
    }

    /// Returns the values that a save sent, for a record whose earlier state is unknown.
    package static func sent(by saved: RecordSavedEvent) -> [TimelineChange] {
        var changes: [TimelineChange] = []
        for (key, link) in [(Key.parent, saved.parent), (.share, saved.share)] {
            switch link {
            case .kept: continue
            case .removed: changes.append(TimelineChange(key: key, before: .unknown, after: nil))
            case .set(let target):
                let after = value(target, isLoose: key == .parent && saved.isParentLoose)
                changes.append(TimelineChange(key: key, before: .unknown, after: after))
            }
        }
        return changes
            + saved.fields.map { TimelineChange(key: .field($0.field), before: .unknown, after: $0.value) }
    }

    private static func value(_ link: RecordKey, isLoose: Bool = false) -> FieldValue {
        var reference = FieldValue.Reference(link)
        reference.isLoose = isLoose
        return .reference(reference)
    }
}

/// One event of a record with its changes, or the state of the record at the horizon of a compacted log.
package struct TimelineStep {
    package enum Kind: String {
        case base, create, update, touch, delete, erase
        /// The deletion of the zone with all its records.
        case zoneDeleted
    }

    package let kind: Kind
    package let version: Version
    package let type: UInt64
    package var previous: Version?
    /// True if the deletion followed from that of another record.
    package var isCascade = false
    /// The reason of an erasure.
    package var reason = ""
    package var changes: [TimelineChange] = []
    /// True if the values were erased later.
    package var isErased = false
    /// The state of the record after this step.
    package var after = TimelineState.none
    /// The reason why the changes are incomplete.
    package var problem: StrataError?

    package init(_ kind: Kind, _ version: Version, type: UInt64) {
        self.kind = kind
        self.version = version
        self.type = type
    }

    package init(_ event: TimelineEvent, from before: TimelineState) {
        (version, type, previous) = (event.version, event.type, event.previous)
        switch event.content {
        case .saved(.create, _, let isErased): (kind, self.isErased) = (.create, isErased)
        case .saved(.update, _, let isErased): (kind, self.isErased) = (.update, isErased)
        case .saved(.touch, _, let isErased): (kind, self.isErased) = (.touch, isErased)
        case .deleted(let isCascade): (kind, self.isCascade) = (.delete, isCascade)
        case .erased(let reason): (kind, self.reason) = (.erase, reason)
        }
        do { try add(event, from: before) } catch {
            after = .unknown
            problem = error as? StrataError ?? StrataError(.malformed, "A record cannot be rebuilt.", cause: error)
        }
    }

    private mutating func add(_ event: TimelineEvent, from before: TimelineState) throws {
        after = try event.applied(to: before)
        switch (before, after) {
        case (_, .erased), (.erased, .none), (.unknown, .none), (.none, .none): break
        case (.none, .known), (.known, .known), (.known, .none):
            changes = TimelineChange.differences(from: try before.decoded(), to: try after.decoded())
        default: changes = TimelineChange.sent(by: try event.saved())
        }
    }
}
