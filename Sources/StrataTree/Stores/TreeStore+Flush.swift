import StrataModel
import StrataSystem

extension TreeStore {
    /// The oldest state whose generation is complete and waits to be written as a run; nil if none waits.
    package func nextToFlush() -> Snapshot? {
        let below = snapshot().below
        return below.frozen.last.map { Snapshot(top: $0, below: Below(levels: below.levels)) }
    }

    /// The folded offsets of a tree in the states that wait.
    package func waitingOffsets(_ id: TreeID) -> [UInt64] {
        snapshot().below.frozen.map { $0.roots[id].foldedOffset }
    }

    /// The epoch of the newest generation that waits to be written; nil if none waits.
    package var newestWaitingEpoch: UInt64? { state.withLock { $0.newest.below.frozen.first?.epoch } }

    /// The number of generations that wait to be written.
    package var waitingGenerations: Int { state.withLock { $0.newest.below.frozen.count } }

    /// The bytes of changes that are in memory only.
    package var memoryBytes: Int {
        let newest = snapshot()
        return ([newest.top] + newest.below.frozen).reduce(0) { $0 + $1.generation.byteCount }
    }

    /// The bytes of the files that some states have and another does not, each counted once.
    package static func byteCount(of states: [Snapshot], without other: Snapshot) -> Int {
        let known = other.below.levels.byteCounts
        let all = states.reduce(into: [:]) { $0.merge($1.below.levels.byteCounts) { size, _ in size } }
        return all.reduce(0) { known[$1.key] == nil ? $0 + $1.value : $0 }
    }

    /// The position of the newest durable state; nil if there is none.
    package var durablePosition: Position? { durable.withLock { $0.newest?.position } }

    /// Completes the current generation, so that ``nextToFlush()`` returns it, unless it has no changes.
    package func freeze() throws {
        let newest = snapshot()
        guard newest.roots.hasEntries else { return }
        newest.top.generation.fill()
        try publish(try fork())
    }

    /// Completes the current generation if it is full, which otherwise happens with the next fork.
    package func freezeIfFull() throws {
        if snapshot().top.generation.isFull { try freeze() }
    }

    /// Writes all changes as runs, so that the newest state has nothing in memory; for a store whose files end with it.
    package func settle() throws {
        assert(!home.isDurable, "a durable state needs the position of the log")
        try freeze()
        try writeRuns()
        // What follows is in another generation, so that keeping this state takes no memory.
        snapshot().top.generation.fill()
    }

    /// Writes the complete generations as runs that no state names yet: for a store whose files end with it, and while
    /// a base is loaded, a part of which is no state.
    package func writeRuns() throws {
        while let waiting = nextToFlush() { try flush(waiting, as: nil) }
        while try mergeStep(isAtRest: false) {}
    }

    /// Writes the generation of a state as a run, and makes the state durable.
    ///
    /// - Parameters:
    ///   - snapshot: the result of ``nextToFlush()``.
    ///   - position: the state of the log that it contains, which must be durable.
    ///   - opaque: bytes that are kept with the state.
    ///   - floor: the offset before which the log has no position; older states are dropped.
    /// - Throws: ``StrataError`` of a file. The generation stays in memory, and the caller may try again.
    package func flush(_ snapshot: Snapshot, at position: Position, opaque: [UInt8], floor: UInt64 = 0) throws {
        try flush(
            snapshot,
            as: StateDescription(
                position: position, opaque: opaque,
                trees: snapshot.roots.ids.map { ($0, snapshot.roots[$0].foldedOffset) }, floor: floor))
    }

    private func flush(_ snapshot: Snapshot, as description: StateDescription?) throws {
        try durable.withLock { durable in
            // Another thread may have written it meanwhile.
            if state.withLock({ $0.levels.flushed >= snapshot.top.epoch }) { return }
            let byteCount = snapshot.top.generation.byteCount
            guard home.hasRoom(byteCount) else {
                throw StrataError(
                    .noSpace, "The disk has no room for a run of the views.", .init(expected: "\(byteCount) bytes"))
            }
            install(
                try drafting { draft in
                    let written = try write(snapshot.top, draft)
                    let (levels, nextNumber) = state.withLock { state in
                        let flushed = snapshot.top.epoch
                        return (
                            state.levels.adding(written.run, written.blob, owner.keyHash, flushed: flushed),
                            state.nextNumber
                        )
                    }
                    if let description { try durable.write(description, levels, nextNumber: nextNumber) }
                    return levels
                })
        }
    }

    /// Writes files of runs. Those of an attempt that fails are removed, since each attempt makes new ones.
    func drafting(_ write: (RunDraft) throws -> Levels) throws -> Levels {
        let draft = RunDraft(home) { self.takeNumber() }
        do { return try write(draft) } catch {
            draft.remove()
            throw error
        }
    }

    /// Removes the files that no state on disk names; readers that have them open can continue.
    package func removeUnnamedFiles() throws {
        try durable.withLock { durable in
            try durable.removeUnnamedFiles(keeping: state.withLock { $0.levels })
        }
    }

    func install(_ levels: Levels) {
        // The states that are replaced are released outside the lock.
        let before = state.withLock { state in
            let before = state
            state.levels = levels
            state.newest = Snapshot(top: state.newest.top, below: state.newest.below.with(levels))
            return before
        }
        withExtendedLifetime(before) {}
    }

    func takeNumber() -> UInt64 {
        state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
    }

    /// Writes the entries of a generation as a run, with a blob file if there are long values.
    private func write(_ layer: MemoryLayer, _ draft: RunDraft) throws -> (run: Run, blob: BlobFile?) {
        let (file, number) = try draft.create(.piece)
        let writer = PieceWriter(file, number: number, owner, hashed: hashed, frameBytes: options.frameBytes)
        let blobs = BlobOutput(draft)
        for id in layer.roots.ids {
            let root = layer.roots[id]
            for range in root.deleted.ranges { writer.addRange(tree: id, lower: range.lower, upper: range.upper) }
            try write(layer.generation, id, root, to: writer, blobs)
        }
        let descriptor = try writer.finish()
        let blob = try blobs.finish(isDurable: home.isDurable)
        if home.isDurable { try file.sync() }
        return (try Run([try Piece.written(file, descriptor, owner)]), blob)
    }

    private func write(
        _ generation: Generation, _ id: TreeID, _ root: TreeRoot, to writer: PieceWriter, _ blobs: BlobOutput
    ) throws {
        var cursor = MemoryCursor(generation, root)
        let key = KeyBuffer()
        cursor.seekFirst()
        while cursor.isThere {
            var content = cursor.content
            if case .value(let value) = content, value.count > RunFormat.maximumValueBytes {
                content = .blob(try blobs.append(value))
            }
            try writer.append(tree: id, key: cursor.copyKey(to: key.bytes), content: content)
            cursor.next()
        }
    }
}

/// The blob file of a run that is being written, which is created for its first long value.
final class BlobOutput {
    private let draft: RunDraft
    private var open: (file: any File, writer: BlobWriter)?

    init(_ draft: RunDraft) { self.draft = draft }

    func append(_ value: UnsafeRawBufferPointer) throws -> BlobReference {
        if let open { return try open.writer.append(value) }
        let (file, number) = try draft.create(.blob)
        let writer = BlobWriter(file, number: number)
        open = (file, writer)
        return try writer.append(value)
    }

    /// Returns the file; nil if there is none.
    func finish(isDurable: Bool) throws -> BlobFile? {
        guard let open else { return nil }
        try open.writer.finish()
        if isDurable { try open.file.sync() }
        return try .written(open.file, number: open.writer.number, valueCount: open.writer.valueCount)
    }
}
