import StrataModel

extension PageStore {
    /// Makes a published state durable. The caller guarantees that the log durably contains `position`, and that the
    /// state is folded from exactly that prefix of the log.
    ///
    /// - Parameters:
    ///   - opaque: bytes that are returned when the file is opened.
    ///   - isPaced: true to pause between slices as the options say; pointless if the disk has no other user.
    /// - Throws: ``StrataError`` for file and disk errors; the previous checkpoint then remains the newest.
    @discardableResult
    package func checkpoint(
        _ snapshot: Snapshot, at position: Position, opaque: [UInt8] = [], isPaced: Bool = true
    ) throws -> Checkpoint {
        guard let checkpoints else {
            throw StrataError(.invalidArgument, "A store in memory has no checkpoints.")
        }
        return try checkpoints.write(snapshot, at: position, opaque: opaque, isPaced: isPaced)
    }

    /// Ends the pauses of checkpoints, also of one that is being written: a thread waits for its end, so nothing else
    /// needs the disk.
    package func hurryCheckpoints() { checkpoints?.isHurried.store(true, ordering: .relaxed) }
}
