import StrataModel
import StrataSystem

extension SegmentedLog {
    package func append(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try append(commits, expecting: expecting, isDurable: options.durability == .commit)
    }

    package func appendLazily(_ commits: [NewCommit], expecting: Position) throws(AppendFailure) -> Appended {
        try append(commits, expecting: expecting, isDurable: false)
    }

    /// Checks everything about commits that does not depend on their place in the log, and returns them with their
    /// touches.
    package func validated(_ commits: [NewCommit]) throws(AppendFailure) -> [NewCommit] {
        var validated = commits
        for index in commits.indices {
            guard commits[index].payload.count <= LogFormat.maximumCommitBytes else {
                throw .tooLarge(limit: LogFormat.maximumCommitBytes)
            }
            do { try validated[index].findTouches(by: catalog.touches) } catch {
                throw .notWritten(
                    error as? StrataError
                        ?? StrataError(
                            .invalidArgument, "The touches of the payload cannot be determined.", cause: error))
            }
        }
        return validated
    }

    /// Returns the positions of the commits after `expecting` that have the ids of `commits`, up to the first that does
    /// not.
    package func positions(of commits: [NewCommit], after expecting: Position) throws -> [Position] {
        try catalog.positions(of: commits.map(\.id), after: expecting)
    }

    private func append(
        _ commits: [NewCommit], expecting: Position, isDurable: Bool
    ) throws(AppendFailure) -> Appended {
        if commits.isEmpty { return Appended(positions: []) }
        let commits = try validated(commits)
        return try writer.withLock { (writer) throws(AppendFailure) -> Appended in
            try checkWritable(writer)
            do { try platform.files.checkAnchor() } catch {
                throw .notWritten(
                    error as? StrataError
                        ?? StrataError(.inputOutput, "The store's directory cannot be checked.", cause: error))
            }
            guard expecting == writer.end else {
                return try appendAfterKnown(commits, expecting: expecting, isDurable: isDurable, to: &writer)
            }
            return try append(commits[...], isDurable: isDurable, to: &writer)
        }
    }

    private func checkWritable(_ writer: borrowing SegmentWriter) throws(AppendFailure) {
        if writer.isClosed { throw .notWritten(LogCatalog.closedError(catalog.paths)) }
        if let refusal = writer.refusal { throw .unknown(refusal) }
    }

    /// Counts commits that are in the log already as appended, and appends the rest after them.
    private func appendAfterKnown(
        _ commits: [NewCommit], expecting: Position, isDurable: Bool, to writer: inout SegmentWriter
    ) throws(AppendFailure) -> Appended {
        let known: [Position]
        do { known = try positions(of: commits, after: expecting) } catch {
            throw .notWritten(error as? StrataError ?? StrataError(.inputOutput, "Reading failed.", cause: error))
        }
        guard let last = known.last else { throw .conflict(writer.end) }
        if known.count == commits.count || last != writer.end { return Appended(positions: known) }
        do {
            let more = try append(commits[known.count...], isDurable: isDurable, to: &writer)
            return Appended(positions: known + more.positions)
        } catch .unknown(let error) { throw .unknown(error) } catch { return Appended(positions: known) }
    }

    /// Fills segment after segment, until all commits are appended or one fails; commits appended by then stay.
    private func append(
        _ commits: ArraySlice<NewCommit>, isDurable: Bool, to writer: inout SegmentWriter
    ) throws(AppendFailure) -> Appended {
        try commits.checkOrder(after: writer.end, time: writer.time, path: catalog.paths.log)
        var positions: [Position] = []
        positions.reserveCapacity(commits.count)
        var next = commits.startIndex
        while next < commits.endIndex {
            do {
                if writer.isSealed { try switchSegment(&writer) }
                let run = try appendRun(commits[next...], isDurable: isDurable, to: &writer)
                // An empty segment takes any commit, so the next run is not empty again.
                if run.isEmpty { try switchSegment(&writer) }
                positions += run
                next += run.count
            } catch .notWritten(let error) {
                // A prefix was appended and stays; the caller meets the error again with the rest.
                if positions.isEmpty { throw .notWritten(error) }
                return Appended(positions: positions)
            } catch { throw error }
        }
        return Appended(positions: positions)
    }

    /// Appends as many commits as the segment has room for: writes them, syncs them if required, and publishes them.
    private func appendRun(
        _ commits: ArraySlice<NewCommit>, isDurable: Bool, to writer: inout SegmentWriter
    ) throws(AppendFailure) -> [Position] {
        let durableOffset = catalog.read { $0.durableEnd.offset }
        var positions: [Position] = []
        var ranges: [Range<Int>] = []
        var end = writer.end
        var written = writer.position
        writer.assembler.clear()
        do {
            for index in commits.indices {
                let before = writer.assembler.count
                let chain = writer.assembler.add(
                    commits[index], after: end, at: writer.place(durableOffset: durableOffset, at: written))
                let place = written + before
                guard writer.hasRoom(for: writer.assembler.count - before, at: place) else {
                    writer.assembler.drop(to: before)
                    break
                }
                end = Position(offset: end.offset + 1, chain: chain)
                positions.append(end)
                ranges.append(place..<written + writer.assembler.count)
                if writer.assembler.count >= Self.writeBytes { try flush(&writer, at: &written) }
            }
            try flush(&writer, at: &written)
            if positions.isEmpty { return [] }
            if isDurable { try writer.file.sync() }
        } catch {
            throw recover(&writer, from: error, through: written + writer.assembler.count)
        }
        let run = commits.prefix(positions.count)
        sealer.noteAppended(byteCount: written - writer.position)
        writer.position = written
        writer.end = end
        writer.time = run.last?.time ?? writer.time
        writer.endsWithMark = false
        publish(run, positions: positions, ranges: ranges, isDurable: isDurable)
        space.didWrite(upTo: written)
        return positions
    }

    /// The approximate size of the pieces in which frames are passed to the operating system.
    private static let writeBytes = 4 << 20

    private func flush(_ writer: inout SegmentWriter, at written: inout Int) throws {
        guard writer.assembler.count > 0 else { return }
        space.willWrite(written..<written + writer.assembler.count)
        try writer.file.write(writer.assembler.bytes, at: written)
        written += writer.assembler.count
        writer.assembler.clear()
    }

    private func publish(
        _ commits: ArraySlice<NewCommit>, positions: [Position], ranges: [Range<Int>], isDurable: Bool
    ) {
        guard let end = positions.last, let last = commits.last else { return }
        catalog.publish { state in
            for (place, index) in commits.indices.enumerated() {
                commits[index].payload.withUnsafeBytes { payload in
                    state.newest.append(
                        offset: positions[place].offset, range: ranges[place], touches: commits[index].touches ?? [],
                        payload: payload)
                }
            }
            state.end = end
            state.endTime = last.time
            if isDurable { state.durableEnd = end }
        }
    }
}

extension LogCatalog {
    /// Returns the positions of the commits after `expecting` that have these ids, up to the first one that does not.
    func positions(of ids: [Identifier], after expecting: Position) throws -> [Position] {
        let (end, floor) = read { ($0.end.offset, $0.floor.position.offset) }
        guard expecting.offset >= floor, expecting.offset < end, try chain(at: expecting.offset) == expecting.chain
        else {
            return []
        }
        var positions: [Position] = []
        for (index, id) in ids.enumerated() {
            let offset = expecting.offset + 1 + UInt64(index)
            guard offset <= end, let commit = try commit(at: offset), commit.id == id else { break }
            positions.append(commit.position)
        }
        return positions
    }
}
