import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

/// Changed bytes under checksums that are right.
@Suite("Forged files of states", .timeLimit(.minutes(5)))
struct ForgedFilesTests {
    enum Part: CaseIterable, Sendable {
        case state, footer
        /// Parts that a check compares with each other.
        case fences, hash, frames
    }

    private static var options: TreeStoreOptions {
        var options = TreeStoreOptions()
        options.frameBytes = 256
        return options
    }

    private static let keys = (0..<40).map { [0x6B, UInt8($0)] }

    /// The files of a state of two runs, with values, marks, deleted ranges and long values.
    private let files: [String: [UInt8]]

    init() throws {
        let disk = SimulatedDisk()
        try disk.makeDirectory(StateStory.path)
        let store = try StateStory.open(disk, Self.options).store
        for round in 0..<2 {
            let fork = try store.fork()
            for id in TreeTrial.ids {
                for (number, key) in Self.keys.enumerated() where number % 3 >= round {
                    try fork.put(id, key, bytes(number == 7 ? 1_500 : 20 + number, of: UInt8(round)))
                }
                if round == 1 {
                    try fork.deleteKeys(id, from: Self.keys[33], to: Self.keys[36])
                    for number in [4, 21] { try fork.delete(id, Self.keys[number]) }
                }
            }
            try store.publish(fork)
            try store.flushAll(at: UInt64(round + 1))
        }
        let paths = disk.paths.filter { $0.contains("/views/") }
        files = try Dictionary(uniqueKeysWithValues: paths.map { ($0, try disk.content(of: $0)) })
    }

    /// Changes a few bytes of a part.
    private func change(_ part: Range<Int>, _ random: inout SeededGenerator, _ body: (Int, (UInt8) -> UInt8) -> Void) {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let bit = UInt8(1) << UInt8.random(in: 0...7, using: &random)
            let ways: [(UInt8) -> UInt8] = [{ _ in 0 }, { _ in 0xFF }, { $0 &+ 1 }, { $0 &- 1 }, { $0 ^ bit }]
            body(Int.random(in: part, using: &random), ways[Int.random(in: ways.indices, using: &random)])
        }
    }

    /// Returns the files with a part that is changed.
    private func forged(_ part: Part, _ random: inout SeededGenerator) throws -> [String: [UInt8]] {
        var files = files
        // The newest, which has both runs.
        let statePath = try #require(files.keys.filter { $0.contains("/state-") }.max())
        var state = try #require(files[statePath])
        if part == .state {
            change(0..<state.count - 4, &random) { state[$0] = $1(state[$0]) }
            let sum = state.dropLast(4).withUnsafeBytes { CRC32C.checksum($0) }
            state.replaceSubrange((state.count - 4)..., with: withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) })
            files[statePath] = state
            return files
        }
        let path = try #require(files.keys.filter { $0.hasSuffix(".run") }.sorted().randomElement(using: &random))
        var run = try ForgedRun(try #require(files[path]), frameBytes: Self.options.frameBytes)
        switch part {
        case .state: break
        case .footer:
            change(run.footer, &random) { run[$0] = $1(run[$0]) }
            let (sum, number) = (run.sealFooter(), RunHome.number(of: String(path.split(separator: "/")[2]), .piece))
            var decoded = try StateFile.decode(state)
            for index in decoded.runs.indices where decoded.runs[index].pieces[0].number == number {
                decoded.runs[index].pieces[0].checksum = sum
            }
            files[statePath] = decoded.encoded()
        case .fences:
            change(run.fences, &random) { run[$0] = $1(run[$0]) }
            run.sealFences()
        case .hash:
            let buckets = (run.hashedEntries + RunFormat.bucketLoad - 1) / RunFormat.bucketLoad
            change(run.groups[0].prefix(buckets * RunFormat.bucketBytes), &random) { run[$0] = $1(run[$0]) }
            run.sealGroup(0)
        case .frames:
            // Not the last one, whose last key a state also has.
            let frame = Int.random(in: 1..<run.groups[0].lowerBound / 256 - 1, using: &random)
            let start = frame * 256 + RunFormat.frameHeaderBytes
            change(start..<(frame + 1) * 256, &random) { run[$0] = $1(run[$0]) }
            run.sealFrame(frame)
        }
        files[path] = run.content
        return files
    }

    /// What a tree has, read in three ways.
    private struct Content: Equatable {
        var forward: [[[UInt8]]] = []
        var backward: [[[UInt8]]] = []
        var values: [[UInt8]?] = []
    }

    private func content(_ id: TreeID, of trees: some TreeReading) throws -> Content {
        var content = Content()
        let cursor = trees.cursor(id)
        var isThere = try cursor.seekFirst()
        while isThere, content.forward.count < 200 {
            try cursor.withEntry { content.forward.append([[UInt8]($0), [UInt8]($1)]) }
            isThere = try cursor.next()
        }
        isThere = try cursor.seekLast()
        while isThere, content.backward.count < 200 {
            try cursor.withEntry { content.backward.append([[UInt8]($0), [UInt8]($1)]) }
            isThere = try cursor.previous()
        }
        for entry in content.forward {
            content.values.append(try entry[0].withUnsafeBytes { try trees.get(id, $0) { [UInt8]($0) } })
        }
        for key in Self.keys {
            try key.withUnsafeBytes { key in
                _ = try trees.contains(id, key)
                #expect(try trees.estimatedCount(id, from: key, to: nil) >= 0)
            }
        }
        #expect(content.forward.count < 200 && content.backward.count < 200, "a cursor goes in circles")
        return content
    }

    /// Reads everything, also below a deleted range, and merges it.
    private func read(_ disk: SimulatedDisk) throws -> [Content] {
        let opened = try StateStory.open(disk, Self.options)
        if let reason = opened.reasons.first { throw reason }
        let store = opened.store
        let before = try TreeTrial.ids.map { try content($0, of: store.snapshot()) }
        let fork = try store.fork()
        for id in TreeTrial.ids {
            try fork.deleteKeys(id, from: Self.keys[10], to: Self.keys[14])
            _ = try content(id, of: fork)
        }
        var steps = 0
        while steps < 20, try store.mergeStep(isAtRest: true) { steps += 1 }
        #expect(steps < 20, "merging comes to no end")
        return before + (try TreeTrial.ids.map { try content($0, of: store.snapshot()) })
    }

    @Test(
        "An error or an answer, and no circle; what a check lets pass is the same in every way",
        arguments: Part.allCases, seeds(2))
    func changed(part: Part, seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var (rejected, accepted) = (0, 0)
        for round in 0..<200 {
            let forged = try forged(part, &random)
            if forged == files { continue }
            let disk = SimulatedDisk()
            for (path, bytes) in forged { disk.setContent(bytes, of: path) }
            do {
                var isIntact = true
                if part != .state, part != .footer {
                    let states = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true }
                    isIntact = try states?.checkFrames(limit: 1).damage.isEmpty ?? false
                }
                let found = try read(disk)
                if isIntact { accepted += 1 } else { rejected += 1 }
                guard isIntact, part != .state, part != .footer else { continue }
                let isSame = found.prefix(2) == found.suffix(2)
                let isConsistent = found.allSatisfy {
                    $0.forward == $0.backward.reversed() && $0.values == $0.forward.map { $0[1] }
                }
                #expect(isSame && isConsistent, "round \(round)")
            } catch is StrataError { rejected += 1 }
        }
        #expect(rejected > 10 && accepted > 0)
    }

    @Test("What is not changed is whole")
    func unchanged() throws {
        let disk = SimulatedDisk()
        for (path, bytes) in files { disk.setContent(bytes, of: path) }
        let found = try read(disk)
        #expect(found.prefix(2) == found.suffix(2) && found[0] == found[1] && found[0].forward.count == 35)
        #expect(found[0].forward == found[0].backward.reversed() && found[0].values == found[0].forward.map { $0[1] })
    }
}
