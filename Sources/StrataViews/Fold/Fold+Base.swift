import StrataModel
import StrataTree

extension Fold {
    /// Folds a whole base into empty trees, as of its horizon; commits continue after that.
    ///
    /// Its records are written in order, each page once.
    ///
    /// ```swift
    /// let fold = Fold(pages.fork())
    /// try fold.load(base: floor) { try reader.next() }
    /// try fold.publish(to: pages)
    /// ```
    /// - Parameters:
    ///   - horizon: the position at which the base ends, according to the log.
    ///   - next: returns the next payload, in the order of ``BaseScan``; nil after the last.
    /// - Throws: ``StrataError`` if a payload is missing, repeated, changed or misplaced, or if the trees do not match
    ///   the marker; it names the difference. The fork can then only be dropped.
    package func load(base horizon: Position, _ next: () throws -> ArraySlice<UInt8>?) throws {
        try load(base: horizon, isChanged: false, next)
    }

    /// - Parameter isChanged: true if the payloads differ from those that the marker describes, as after an erasure.
    func load(base horizon: Position, isChanged: Bool, _ next: () throws -> ArraySlice<UInt8>?) throws {
        guard offset == 0, slice.count == 0, ViewTree.folded.allSatisfy(fork.isEmpty) else {
            throw StrataError(
                .invalidArgument, "A base can only be loaded into empty trees.", .init(found: "offset \(offset)"))
        }
        guard (1...Version.maximumOffset).contains(horizon.offset) else {
            throw StrataError(.outOfRange, "The horizon is not a valid offset.", .init(found: "\(horizon.offset)"))
        }
        isPartial = true
        try withoutActuallyEscaping(next) { next in
            let reading = try BaseReading(horizon, next)
            while try reading.locating({ try reading.content() }) == .others {
                try reading.locating { try reading.forEachEvent(applyStated) }
                try reading.advance()
            }
            if try reading.locating({ try reading.content() }) == .records { try loadRecords(reading) }
            try checkMarker(reading, horizon, isChanged: isChanged)
        }
    }

    private func applyStated(_ kind: EventKind, _ body: UnsafeRawBufferPointer, at place: EventPlace) throws {
        switch kind {
        case .recordSaved, .baseMarker:
            throw StrataError(.brokenSequence, "A payload of a base contains records and other events.")
        default: try maintain(kind, body, at: place)
        }
    }

    private func loadRecords(_ reading: BaseReading) throws {
        let fork = fork
        var keys = StatedKeys()
        try records.load(into: fork) { fold in
            repeat {
                try reading.locating {
                    try reading.forEachEvent { kind, body, place in
                        guard kind == .recordSaved else {
                            throw StrataError(
                                .brokenSequence, "A payload of a base contains records and other events.")
                        }
                        try keys.advance(to: body)
                        try keys.key.bytes.withUnsafeBytes {
                            try fold(SortedEvent(key: $0, body: body, kind: kind, place: place))
                        }
                    }
                }
                try reading.advance()
            } while try reading.locating({ try reading.content() }) == .records
        }
    }

    private func checkMarker(_ reading: BaseReading, _ horizon: Position, isChanged: Bool) throws {
        try reading.locating {
            guard try reading.content() == .marker else {
                throw StrataError(
                    .brokenSequence, "A base does not end with its marker.",
                    .init(found: reading.payload == nil ? "the end" : "another payload"))
            }
            var marker: BaseMarkerEvent?
            try reading.forEachEvent { _, body, _ in
                guard marker == nil else { throw StrataError(.brokenSequence, "A base has two markers.") }
                marker = try BaseMarkerEvent(decoding: body)
            }
            guard let marker else { return }
            try Self.require(marker.horizon, horizon, "horizon")
            try Self.require(marker.payloadCount, reading.count, "number of payloads")
            if !isChanged { try Self.require(marker.payloadHash, reading.hash, "hash of the payloads") }
            (offset, isPartial) = (horizon.offset, false)
            do {
                try flush()
                try fork.setFoldedOffset(ViewTree.prunedAssets, horizon.offset)
                if isChanged { return }
                let digests = try fork.digests()
                try Self.require(marker.stateDigest, digests.state, "digest of the state")
                try Self.require(marker.contentDigest, digests.content, "digest of the content")
            } catch {
                isPartial = true
                throw error
            }
        }
        try reading.advance()
        if reading.payload == nil { return }
        isPartial = true
        try reading.locating { throw StrataError(.brokenSequence, "A base has a payload after its marker.") }
    }

    private static func require<Value: Equatable>(_ said: Value, _ found: Value, _ what: StaticString) throws {
        guard said == found else {
            throw StrataError(
                .brokenChain, "A base does not match its marker.",
                .init(expected: "\(what) \(said)", found: "\(found)"))
        }
    }
}

/// The keys of a base's records, which must ascend.
private struct StatedKeys {
    private(set) var key = KeyWriter()
    private var last = KeyWriter()

    mutating func advance(to body: UnsafeRawBufferPointer) throws {
        swap(&key, &last)
        let event = try RecordEvent(.recordSaved, body)
        try event.requireText()
        key.removeAll()
        key.append(number: event.zone)
        key.append(lastRecordName: event.nameBytes)
        // A repeated key belongs to a record that takes several events.
        let isInOrder = last.bytes.withUnsafeBytes { last in
            key.bytes.withUnsafeBytes { RecordSlice.compare(last, $0) <= 0 }
        }
        guard isInOrder else { throw StrataError(.brokenSequence, "The records of a base are not in order.") }
    }
}
