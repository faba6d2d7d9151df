import StrataSystem

/// A part of a checkpoint that has been handed to the disk.
package struct CheckpointSlice: Sendable {
    package var byteCount: Int
    /// The time for which the disk had to be awaited: nearly none if it has nothing else to do.
    package var microseconds: Int64
    /// The part of the room for dirty pages that is taken: from 0 up to 1, where writers must stop.
    package var fill: Double

    /// The part of the room up to which writers do not feel a checkpoint's pauses. Checkpoints begin there.
    package static let ampleFill = 0.5

    /// Pauses as long as the disk was awaited, so that the log has half of a disk that is busy. Pauses less when room
    /// runs short, because writers then wait for the checkpoint and not for the disk.
    package static let leaveHalf: @Sendable (CheckpointSlice) -> Void = { slice in
        ThreadStripe.rest(microseconds: slice.restMicroseconds)
    }

    /// The full time of waiting up to ``ampleFill``, and 0 from five eighths of the room on. Writers pause longer and
    /// longer there, and if both paused, the disk would be idle.
    var restMicroseconds: Int64 {
        let share = min(max(1 - 8 * (fill - Self.ampleFill), 0), 1)
        return Int64(Double(min(max(microseconds, 0), 1_000_000)) * share)
    }
}
