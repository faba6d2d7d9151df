import StrataModel

/// The steps and the outcome of a repair.
package struct RepairPlan: Sendable {
    /// One step of a repair; the steps are listed in the order of their execution.
    package struct Step: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            /// A copy of the file is kept under another name, because the file is about to be changed.
            case copy
            /// The whole file is taken out of the log.
            case move
            /// The file is truncated at `position`.
            case cut
            /// The segment's header is rewritten; its checksum proves the content.
            case header
            /// The segment, which is sealed, is rewritten from its whole commits.
            case rewrite
            /// A closing frame is written at `position`; it follows from the commits and the next segment.
            case seal
            /// `FLOOR` is rewritten, from the start of the first segment or the horizon of a base.
            case floor
        }

        package var kind: Kind
        package var path: String
        /// The path under which it is kept.
        package var target: String?
        package var position: Int?

        var seal: SegmentFile.Seal?
        var floor: FloorMark?
        var header: [UInt8] = []
        var rewrite: SealedRewrite?

        init(
            _ kind: Kind, _ path: String, to target: String? = nil, at position: Int? = nil,
            seal: SegmentFile.Seal? = nil, floor: FloorMark? = nil, header: [UInt8] = [], rewrite: SealedRewrite? = nil
        ) {
            (self.kind, self.path, self.target, self.position) = (kind, path, target, position)
            (self.seal, self.floor, self.header, self.rewrite) = (seal, floor, header, rewrite)
        }
    }

    package var report: VerificationReport
    /// Empty if the log is whole or cannot be repaired.
    package var steps: [Step] = []
    /// The reason why the log cannot be repaired, and what can be done instead.
    package var obstacle: String?
    /// The last commit of the repaired log.
    package var end: Position
    /// Offsets that the repaired log no longer has, up to the last one that is named anywhere.
    package var lostOffsets = OffsetRanges()
    /// The lost offsets whose commits are whole in files that are kept.
    package var keptAsideOffsets = OffsetRanges()
    /// The directory in which files are kept, which is that of the log.
    package var directory: String
    /// The file that describes the repair; nil if nothing is done.
    package var note: String?

    /// True if there is nothing to repair.
    package var isWhole: Bool { report.damage == nil }
}
