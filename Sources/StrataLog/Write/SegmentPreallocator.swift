import StrataModel
import StrataSystem

/// Writes zeros ahead of the frames, and prepares the next segment, on a thread of its own.
///
/// A sync that only overwrites allocated and written space does not wait for file-system metadata. A failure here is
/// never an error: the writer meets a full disk itself, where it can be reported.
final class SegmentPreallocator: Sendable {
    private struct State {
        /// The segment that grows, opened a second time: the system reports a failed write-back once to each opening,
        /// and the writer must not miss it because this thread saw it first. Zeros are written only from `filled` up to
        /// `claimed`.
        var file: (any File)?
        /// The end of the zeros; frames move it when they go beyond it.
        var filled = 0
        /// The end of the zeros that the thread is just writing. The writer waits before it enters that space.
        var claimed: Int?
        var wanted = 0
        /// The size limits of the segment that grows and of the next one.
        var limitBytes = 0
        var nextLimitBytes = 0
        var spareWanted = 0
        var spare: (any File)?
        var spareFilled = 0
        var isFillingSpare = false
        /// True if the writer waits for the spare as it is, so that no further step is begun.
        var isTakingSpare = false
        /// True if the disk is full or broken, so that there is no second attempt for this segment.
        var hasSpareFailed = false
        var isStopping = false

        /// True if a whole step of zeros is owed to the spare, or its last zeros. Otherwise less would be written for
        /// each commit, and the disk would delay the commit each time.
        var owesSpare: Bool {
            let owedBytes = spareWanted - spareFilled
            return owedBytes >= SegmentPreallocator.spareStepBytes || owedBytes > 0 && spareWanted == nextLimitBytes
        }
    }

    private let files: any FileSystem
    private let paths: StorePaths
    private let stepBytes: Int
    private let state = Monitor(State())
    // Set once, right after the thread is created, before any other object knows this one.
    private let thread: Monitor<WorkerThread?> = Monitor(nil)

    init(paths: StorePaths, files: any FileSystem, stepBytes: Int) throws {
        self.files = files
        self.paths = paths
        self.stepBytes = stepBytes
        guard stepBytes > 0 else { return }
        let worker = try WorkerThread(name: "strata-space") { [self] in run() }
        thread.withLock { $0 = worker }
    }

    /// Registers a new segment that grows, in which zeros already reach up to `filled`.
    func begin(_ path: String, filled: Int, limitBytes: Int, nextLimitBytes: Int) {
        let file = stepBytes > 0 ? try? files.open(path, .write) : nil
        state.wait { state -> Void? in
            guard state.claimed == nil else { return nil }
            state.file?.close()
            state.file = file
            state.filled = filled
            state.wanted = 0
            state.limitBytes = limitBytes
            state.nextLimitBytes = nextLimitBytes
            state.spareWanted = 0
            state.hasSpareFailed = false
            return ()
        }
    }

    /// Called before frames are written to `range`: waits while zeros are being written there.
    func willWrite(_ range: Range<Int>) {
        guard stepBytes > 0 else { return }
        state.wait { state -> Void? in
            if let claimed = state.claimed, range.upperBound > state.filled, range.lowerBound < claimed { return nil }
            state.filled = max(state.filled, range.upperBound)
            return ()
        }
    }

    /// Called after frames were written up to `position`: requests space ahead.
    func didWrite(upTo position: Int) {
        guard stepBytes > 0 else { return }
        let needsWork = state.withLock { state in
            let start = state.limitBytes / 8
            if position > start, !state.hasSpareFailed {
                // Evenly, from one eighth to seven eighths of this segment, so that the next one is filled before it is
                // needed.
                let span = state.limitBytes - 2 * start
                state.spareWanted = min(
                    state.nextLimitBytes, (position - start) * state.nextLimitBytes / span + stepBytes)
            }
            if state.filled - position < stepBytes, state.filled < state.limitBytes {
                state.wanted = min(state.limitBytes, position + 2 * stepBytes)
            }
            return state.wanted > state.filled || (state.owesSpare && !state.isFillingSpare)
        }
        if needsWork { state.notifyAll() }
    }

    /// Returns the next segment's file, with zeros up to `filled`; nil if none has been prepared.
    func takeSpare() -> (file: any File, filled: Int)? {
        state.wait { state -> (file: any File, filled: Int)?? in
            state.isTakingSpare = state.isFillingSpare
            if state.isFillingSpare { return nil }
            // Nothing more is wanted until the next segment has begun: a spare that the thread started now would have
            // the name under which the writer creates its own.
            defer {
                state.spare = nil
                state.spareFilled = 0
                state.spareWanted = 0
            }
            return .some(state.spare.map { ($0, state.spareFilled) })
        }
    }

    /// Ends the thread and removes what was prepared.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
        let spare = state.withLock { state in
            defer { state.spare = nil }
            state.file?.close()
            state.file = nil
            return state.spare
        }
        guard let spare else { return }
        spare.close()
        try? files.remove(paths.spare)
    }

    // MARK: The thread

    private enum Work {
        case fill(any File, Range<Int>)
        case fillSpare(upTo: Int, of: Int)
        case stop
    }

    private func run() {
        while true {
            switch state.wait({ nextWork(&$0) }) {
            case .stop: return
            case .fill(let file, let range): fill(file, range)
            case .fillSpare(let limit, let total): fillSpare(upTo: limit, of: total)
            }
        }
    }

    private func nextWork(_ state: inout State) -> Work? {
        if state.isStopping { return .stop }
        // The segment that grows comes first, because its writer would have to wait.
        if let file = state.file, state.wanted > state.filled {
            let range = state.filled..<min(state.wanted, state.filled + stepBytes)
            state.claimed = range.upperBound
            return .fill(file, range)
        }
        if state.owesSpare, !state.isTakingSpare {
            state.isFillingSpare = true
            let limit = min(state.spareWanted, state.spareFilled + Self.spareStepBytes)
            return .fillSpare(upTo: limit, of: state.nextLimitBytes)
        }
        return nil
    }

    private func fill(_ file: any File, _ range: Range<Int>) {
        let succeeded = tryTo {
            try file.allocate(range)
            try writeZeros(file, range)
            try file.sync()
        }
        state.withLock { state in
            state.claimed = nil
            if succeeded {
                state.filled = max(state.filled, range.upperBound)
            } else {
                state.file?.close()
                state.file = nil
            }
        }
        state.notifyAll()
    }

    private func fillSpare(upTo limit: Int, of total: Int) {
        let (existing, filled) = state.withLock { ($0.spare, $0.spareFilled) }
        var file = existing
        let succeeded = tryTo {
            let spare = try file ?? makeSpare()
            file = spare
            // Allocated once and synced once, because each time, file-system metadata delays the syncs of commits.
            if filled == 0 { try spare.allocate(0..<total) }
            try writeZeros(spare, filled..<limit)
            if limit == total { try spare.sync() }
        }
        if !succeeded, let file {
            file.close()
            try? files.remove(paths.spare)
        }
        state.withLock { state in
            state.isFillingSpare = false
            state.spare = succeeded ? file : nil
            state.spareFilled = succeeded ? limit : 0
            if !succeeded {
                state.spareWanted = 0
                state.hasSpareFailed = true
            }
        }
        state.notifyAll()
    }

    private func makeSpare() throws -> any File {
        if try files.exists(paths.spare) { try files.remove(paths.spare) }
        return try files.open(paths.spare, .create)
    }

    private func tryTo(_ body: () throws -> Void) -> Bool {
        do { try body() } catch { return false }
        return true
    }

    /// The size of the ranges that are pushed out one by one, which the medium takes in the time between commits.
    private static let pushedBytes = 256 << 10
    /// The size of a step of filling the spare. The writer may have to wait for one step when it takes the spare.
    private static let spareStepBytes = 1 << 20

    private func writeZeros(_ file: any File, _ range: Range<Int>) throws {
        let zeros = [UInt8](repeating: 0, count: min(range.count, Self.pushedBytes))
        var position = range.lowerBound
        while position < range.upperBound {
            let count = min(zeros.count, range.upperBound - position)
            try zeros.withUnsafeBytes { zeros in
                try file.writeInPieces(UnsafeRawBufferPointer(rebasing: zeros[..<count]), at: position)
            }
            file.finishWriteback(position..<position + count)
            position += count
        }
    }
}
