import StrataModel
import StrataSystem

extension TreeStore {
    /// True if runs should be merged now.
    ///
    /// - Parameter isAtRest: true if no changes are expected soon, so that smaller merges pay, too.
    package func isMergeDue(isAtRest: Bool) -> Bool {
        plan(state.withLock { $0.levels }, isAtRest: isAtRest) != nil
    }

    /// True if a writer should wait for a merge, because reading many runs is slow.
    package var isCrowded: Bool { state.withLock { $0.levels.runs.count > MergePlan.manyRuns } }

    /// Half of the room that it takes is a margin for the log, which is more important.
    private func plan(_ levels: Levels, isAtRest: Bool) -> MergePlan? {
        let own = levels.runs.prefix { $0.run.pieces[0].descriptor.number >= firstNumber }
        guard let plan = MergePlan(own, options, isAtRest: isAtRest) else { return nil }
        let inputBytes = levels.runs[plan.inputs].reduce(0) { $0 + $1.run.liveBytes }
        return home.hasRoom(2 * min(inputBytes, stepBytes(levels))) ? plan : nil
    }

    /// The bytes that a step of a merge writes. Large levels have larger files, so that there are not too many.
    private func stepBytes(_ levels: Levels) -> Int {
        max(options.pieceBytes, levels.runs.reduce(0) { $0 + $1.run.liveBytes } / Self.usualPieces)
    }

    private static let usualPieces = 64

    /// Takes one step of the merge that is due: writes a piece of the merged run. Returns false if none is due, or if
    /// there is no room for it.
    ///
    /// - Throws: ``StrataError`` of a file. All runs stay as they are, and the caller may try again.
    @discardableResult
    package func mergeStep(isAtRest: Bool) throws -> Bool {
        try durable.withLock { durable in
            let levels = state.withLock { $0.levels }
            guard let plan = plan(levels, isAtRest: isAtRest) else { return false }
            let merged = try drafting { draft in
                let merged = try merge(plan, of: levels, draft)
                try durable.rewrite(merged, nextNumber: state.withLock { $0.nextNumber })
                return merged
            }
            install(merged)
            // A state removes the files that no longer have a name; while a base is loaded, there is none.
            if durable.newest == nil { removeFiles(of: levels, without: merged) }
            return true
        }
    }

    private func removeFiles(of levels: Levels, without kept: Levels) {
        for use in RunHome.Use.allCases {
            for number in levels.numbers(of: use).subtracting(kept.numbers(of: use)) { home.remove(number, use) }
        }
    }

    private func merge(_ plan: MergePlan, of levels: Levels, _ draft: RunDraft) throws -> Levels {
        let inputs = levels.runs[plan.inputs].map(\.run)
        let start = inputs.lazy.compactMap(\.visibleFrom).first
        let isOldest = plan.inputs.upperBound == levels.runs.count || plan.output == levels.runs.count - 1
        let sources = try inputs.map { run in
            var cursor = RunCursor(run)
            _ = try cursor.seekFirst()
            return cursor
        }
        var merger = RunMerger(sources, ranges: inputs.map(\.ranges), from: start, isOldest: isOldest)
        let (file, number) = try draft.create(.piece)
        let writer = PieceWriter(file, number: number, owner, hashed: hashed, frameBytes: options.frameBytes)
        let blobs = BlobOutput(draft)
        let limit = stepBytes(levels)
        let sparse = plan.level == .base ? levels.sparseBlobs(small: limit / 4) : []
        try merger.writePiece(to: writer, atMost: limit) { reference in
            guard sparse.contains(reference.file) else { return reference }
            return try blobs.append(try levels.value(of: reference))
        }
        let descriptor = try writer.finish()
        if home.isDurable { try file.sync() }
        let blob = try blobs.finish(isDurable: home.isDurable)
        let piece = try Piece.written(file, descriptor, owner)
        let before = plan.output.map { levels.runs[$0].run.pieces } ?? []
        let pieces = piece.isEmpty ? before : before + [piece]
        var runs = Array(levels.runs[..<plan.inputs.lowerBound])
        if let consumed = merger.consumedUpTo {
            for run in levels.runs[plan.inputs] {
                if let rest = try run.run.rest(from: consumed) { runs.append(LeveledRun(run: rest, level: run.level)) }
            }
        }
        if !pieces.isEmpty { runs.append(LeveledRun(run: try Run(pieces), level: plan.level)) }
        runs += levels.runs[(plan.output.map { $0 + 1 } ?? plan.inputs.upperBound)...]
        return levels.with(runs, adding: blob)
    }
}

extension Piece {
    /// True if it has neither entries nor ranges.
    var isEmpty: Bool { descriptor.entries == 0 && ranges.isEmpty }
}

extension Run {
    /// The part from a key on; nil if nothing is left of the run.
    func rest(from start: RunKey) throws -> Run? {
        let left = pieces.filter { piece in
            piece.descriptor.last.map { $0 >= start } ?? false
                || !piece.ranges.clipped(from: start, to: nil).isEmpty
        }
        return left.isEmpty ? nil : try Run(left, visibleFrom: start)
    }
}
