import StrataModel
import StrataSystem

/// The states of a store on disk, opened for checks. It takes no lock and creates or writes nothing, and its files stay
/// readable when a writer removes them.
///
/// ```swift
/// guard let checked = try CheckedStates.open(in: path, owner, files: files, isValid: log.has) else { return }
/// let frames = try checked.checkFrames(limit: 100)
/// ```
package struct CheckedStates: Sendable {
    /// Oldest first; the last is the newest usable state.
    package let states: [(state: DurableState, trees: Snapshot)]
    package let finding: StateFinding
    /// The reasons why newer states cannot be used.
    package let reasons: [StrataError]
    /// The older states that cannot be opened.
    private let lost: [StrataError]

    /// Opens all states in the directory of a store; returns nil if there is no directory.
    ///
    /// - Parameter isValid: returns true if the log has that chain value at that offset.
    package static func open(
        in path: String, _ owner: RunOwner, files: any FileSystem, isValid: (Position) throws -> Bool
    ) throws -> CheckedStates? {
        guard case (var search, let found)? = try TreeStore.search(in: path, owner, upTo: .max, files, isValid) else {
            return nil
        }
        guard let found else {
            return CheckedStates(states: [], finding: search.finding(nil), reasons: search.reasons, lost: [])
        }
        // Newest first: each shares files with the one before.
        var (states, lost): ([StateSearch.Found], [StrataError]) = ([found], [])
        for file in try search.older(than: found.file).reversed() {
            guard try isValid(file.position) else { continue }
            do { states.append(try search.open(file, sharing: states[states.count - 1].levels)) } catch let error
                as StrataError where StateSearch.finding(error) != nil
            {
                // A writer drops states that it has kept at any time.
                if error.code != .notFound { lost.append(error) }
            }
        }
        return CheckedStates(
            states: try states.reversed().map {
                (DurableState($0.file), try TreeStore.newest(of: $0.levels, roots: $0.roots))
            },
            finding: search.finding(found.file), reasons: search.reasons, lost: lost)
    }

    /// Reads every frame and every long value of the states once, and checks its checksum, its layout, and the order
    /// of its keys. Returns the number of frames, and the errors.
    ///
    /// - Parameter limit: the maximum number of errors.
    package func checkFrames(limit: Int) throws -> (count: Int, damage: [StrataError]) {
        var (count, damage, checked): (Int, [StrataError], Set<UInt64>) = (0, lost, [])
        for state in states {
            let levels = state.trees.below.levels
            for piece in levels.runs.flatMap(\.run.pieces) where checked.insert(piece.descriptor.number).inserted {
                for number in 1..<max(1, piece.endFrame) {
                    count += 1
                    do { try levels.check(frame: number, of: piece) } catch let error as StrataError {
                        if damage.count < limit { damage.append(error) }
                    }
                }
            }
        }
        return (count, damage)
    }
}

extension Levels {
    /// Checks a frame: each entry, its place in the fences and the hash, and the long values that it refers to.
    fileprivate func check(frame number: Int, of piece: Piece) throws {
        let frame = try piece.frame(number)
        guard piece.frames(of: frame.tree).contains(number) else {
            throw piece.map.malformed("a frame of another tree", at: number * piece.frameBytes)
        }
        let isFirst = piece.frames(of: frame.tree).lowerBound == number
        // A frame before that cannot be read has an error of its own.
        var before = isFirst ? [] : (try? piece.frame(number - 1).lastKey) ?? []
        for index in 0..<frame.count {
            let (suffix, content) = try piece.reading(number) { try frame.entry(index) }
            let key = [UInt8](frame.prefix) + suffix
            let isFenced = try index > 0 || key.elementsEqual(piece.fences.key(ofFrame: number))
            guard isFenced, before.lexicographicallyPrecedes(key) else {
                throw piece.map.malformed("a key out of order", at: number * piece.frameBytes)
            }
            if case .blob(let reference) = content { _ = try value(of: reference) }
            if piece.isHashed(frame.tree) {
                let found = try key.withUnsafeBytes { try piece.get(frame.tree, $0, hash: hash(frame.tree, $0)) }
                if found == nil {
                    throw piece.map.malformed("a key that its hash lacks", at: number * piece.frameBytes)
                }
            }
            before = key
        }
        try piece.requireReadable()
    }
}
