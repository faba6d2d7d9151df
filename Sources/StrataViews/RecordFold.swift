import StrataModel
import StrataTree

extension Fold {
    /// Folds the events of one record, oldest first.
    func foldRecord(_ bytes: UnsafeRawBufferPointer, _ events: RecordSlice.Events) throws {
        let key = UnsafeRawBufferPointer(rebasing: bytes[events[0].key])
        let before = try loadState(key)
        var exists = before != nil
        for index in 0..<events.count {
            let event = events[index]
            let body = UnsafeRawBufferPointer(rebasing: bytes[event.body])
            if event.kind == .recordSaved {
                try save(body, at: event.place, over: exists)
                exists = true
            } else {
                try checkDeletion(body, of: exists)
                exists = false
            }
        }
        try finish(key, exists, before, events[events.count - 1].place)
    }

    /// What the zone's totals lose when the record changes.
    struct RecordBefore {
        var digests: Digests
        var isOutward: Bool
    }

    /// Copies the state that a record has into `oldState`; nil if there is no such record.
    private func loadState(_ key: UnsafeRawBufferPointer) throws -> RecordBefore? {
        oldState.removeAll()
        referenceKeys.start(source: key)
        return try fork.get(ViewTree.records, key) { state in
            oldState.append(bytes: state)
            let view = try RecordStateView(state, in: 0..<state.count)
            let isOutward = try referenceKeys.collectOld(view, state)
            return RecordBefore(
                digests: Digests(state: view.stateDigest, content: view.contentDigest), isOutward: isOutward)
        }
    }

    private func save(_ body: UnsafeRawBufferPointer, at place: EventPlace, over exists: Bool) throws {
        let event = try RecordSavedView(body, in: 0..<body.count)
        newState.removeAll()
        if exists {
            try oldState.bytes.withUnsafeBytes { old in
                try merger.apply(event, at: place, to: old, into: &newState)
            }
        } else {
            try merger.apply(event, at: place, to: nil, into: &newState)
        }
        swap(&oldState, &newState)
    }

    private func checkDeletion(_ body: UnsafeRawBufferPointer, of exists: Bool) throws {
        var reader = ByteReader(body)
        let event = try RecordDeletedEvent(from: &reader)
        let version =
            try exists
            ? oldState.bytes.withUnsafeBytes { try RecordStateView($0, in: 0..<$0.count).version } : nil
        guard version == event.previous, version != nil else {
            throw StrataError(
                .brokenSequence, "A deletion does not follow the version that the record has.",
                .init(expected: version?.tag ?? "no deletion", found: event.previous?.tag ?? "none"))
        }
    }

    /// Writes the state that the events came to, which is in `oldState`.
    private func finish(
        _ key: UnsafeRawBufferPointer, _ exists: Bool, _ before: RecordBefore?, _ last: EventPlace
    ) throws {
        var reader = KeyReader(key)
        let zone = try reader.readNumber()
        let name = try reader.readLastText()
        var change = ZoneTotals.Change(lastChanged: last.version.offset)
        if let before {
            change.recordCount -= 1
            change.outwardCount -= before.isOutward ? 1 : 0
            change.digests -= before.digests
        }
        if exists {
            let (digests, isOutward) = try putState(key, zone, name)
            change.recordCount += 1
            change.outwardCount += isOutward ? 1 : 0
            change.digests += digests
        } else if before != nil {
            try fork.delete(ViewTree.records, key)
        }
        try referenceKeys.apply(to: fork)
        zones.add(change, to: zone)
    }

    private func putState(
        _ key: UnsafeRawBufferPointer, _ zone: UInt64, _ name: UnsafeRawBufferPointer
    ) throws -> (Digests, isOutward: Bool) {
        let (digests, isOutward) = try oldState.bytes.withUnsafeBytes { bytes in
            let view = try RecordStateView(bytes, in: 0..<bytes.count)
            return (
                try digest.digests(of: view, in: bytes, zone: zone, name: name),
                try referenceKeys.collectNew(view, bytes)
            )
        }
        try oldState.withMutableBytes { bytes in
            try RecordStateView.setDigests(state: digests.state, content: digests.content, in: bytes)
        }
        try oldState.bytes.withUnsafeBytes { try fork.put(ViewTree.records, key, $0) }
        return (digests, isOutward)
    }
}
