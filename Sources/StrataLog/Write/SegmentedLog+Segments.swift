import StrataModel
import StrataSystem

extension SegmentedLog {
    /// Closes the segment that grows and begins the next one.
    func switchSegment(_ writer: inout SegmentWriter) throws(AppendFailure) {
        if !writer.isSealed { try seal(&writer) }
        let begun: (segment: SegmentFile, file: any File, filled: Int)
        let limitBytes = options.segmentLimit(after: writer.position)
        do { begun = try beginSegment(after: writer.end, time: writer.time, limitBytes: limitBytes) } catch {
            // The old segment stays closed; the next append tries again to begin another one.
            throw .notWritten(
                error as? StrataError
                    ?? StrataError(.inputOutput, "The next segment cannot be created.", cause: error))
        }
        let seal = SegmentFile.Seal(
            end: writer.end, time: writer.time, position: writer.position - LogFormat.frameHeaderBytes)
        catalog.publish { LogCatalog.startSegment(begun.segment, begun.file, closing: seal, in: &$0) }
        sealer.wake()
        segmentWatcher.withLock { $0 }?()
        // The zeros after the seal are no longer needed; if they stay, they only take space.
        try? writer.file.truncate(to: writer.position)
        writer.segment = begun.segment
        writer.file = begun.file
        writer.limitBytes = limitBytes
        writer.position = begun.segment.header.byteCount
        writer.isSealed = false
        writer.endsWithMark = false
    }

    private func seal(_ writer: inout SegmentWriter) throws(AppendFailure) {
        // IMPORTANT: everything before the seal is durable before the seal is.
        do { try makeDurable(writer.file, through: writer.end) } catch {
            writer.refusal = error
            throw .unknown(error)
        }
        writer.assembler.clear()
        writer.assembler.addClosing(
            .seal, end: writer.end, time: writer.time,
            at: writer.place(durableOffset: writer.end.offset, at: writer.position))
        let limit = writer.position + writer.assembler.count
        do {
            space.willWrite(writer.position..<limit)
            try writer.file.write(writer.assembler.bytes, at: writer.position)
            try writer.file.sync()
        } catch { throw recover(&writer, from: error, through: limit) }
        writer.position = limit
        writer.isSealed = true
        catalog.publish { $0.newest.extend(to: limit) }
    }

    private func beginSegment(
        after end: Position, time: Int64, limitBytes: Int
    ) throws -> (segment: SegmentFile, file: any File, filled: Int) {
        let spare = space.takeSpare()
        let begun = try SegmentMaker(paths: catalog.paths, platform: platform, storeID: identity.storeID)
            .make(after: end, time: time, spare: spare?.file)
        let filled = max(spare?.filled ?? 0, begun.segment.header.byteCount)
        space.begin(
            begun.segment.path, filled: filled, limitBytes: limitBytes,
            nextLimitBytes: options.segmentLimit(after: limitBytes))
        return (begun.segment, begun.file, filled)
    }
}
