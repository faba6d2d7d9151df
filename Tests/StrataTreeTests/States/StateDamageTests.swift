import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataTree

@Suite("Damaged files of states")
struct StateDamageTests {
    private static var options: TreeStoreOptions {
        var options = TreeStoreOptions()
        options.frameBytes = 256
        return options
    }

    /// A disk with one state of one piece and one blob file, and its entries.
    private func written() throws -> (disk: SimulatedDisk, entries: [[[UInt8]]]) {
        let disk = SimulatedDisk()
        try disk.makeDirectory(StateStory.path)
        let store = try StateStory.open(disk, Self.options).store
        let fork = try store.fork()
        for number in 0..<30 as Range<UInt8> {
            try fork.put(StateStory.id, [number, 7], [UInt8](repeating: number, count: number == 9 ? 1_500 : 20))
        }
        try store.publish(fork)
        try store.flushAll(at: 1, opaque: [5])
        return (disk, try store.snapshot().entries(StateStory.id))
    }

    /// Returns the entries, also looked up one by one; nil if damage is found.
    private func entries(on disk: SimulatedDisk) throws -> [[[UInt8]]]? {
        let opened = try StateStory.open(disk, Self.options)
        guard opened.state != nil else { return nil }
        let snapshot = opened.store.snapshot()
        do {
            let entries = try snapshot.entries(StateStory.id)
            for entry in entries where try snapshot.value(StateStory.id, entry[0]) != entry[1] {
                Issue.record("\(entry[0]) has another value when it is looked up")
            }
            return entries
        } catch is StrataError { return nil }
    }

    @Test("Whatever byte is wrong, it is an error, or the answer is the same", arguments: [".run", ".blob", "/state-"])
    func everyByte(part: String) throws {
        let (disk, expected) = try written()
        let path = try #require(disk.paths.first { $0.contains(part) })
        var damagedCount = 0
        let count = try disk.content(of: path).count
        for place in 0..<count {
            try disk.flipBit(path, byte: place, bit: place % 8)
            if let found = try entries(on: disk) {
                #expect(found == expected, "byte \(place) of \(path)")
            } else {
                damagedCount += 1
            }
            try disk.flipBit(path, byte: place, bit: place % 8)
        }
        // Each byte of a state is under its checksum.
        #expect(damagedCount > 100 && (part != "/state-" || damagedCount == count))
        #expect(try entries(on: disk) == expected)
    }

    @Test("What prevents reading a state is no damage: the store does not open, and nothing is lost")
    func passingErrors() throws {
        let (disk, expected) = try written()
        let paths = disk.paths
        for kind in [SimulatedDisk.CallKind.open, .read, .size, .map] {
            var errors = 0
            for call in 1...3 {
                for number in [5, 12, 13, 24] as [Int32] {
                    disk.fail(kind, at: call, with: .errno(number), on: "/views/")
                    do {
                        #expect(try StateStory.open(disk, Self.options).state != nil, "\(kind) \(call) \(number)")
                    } catch let error as StrataError {
                        #expect(error.context.errno == number)
                        errors += 1
                    }
                    disk.heal()
                }
            }
            #expect(errors >= 4, "the first \(kind) was not met")
        }
        struct LogError: Error {}
        #expect(throws: LogError.self) {
            try TreeStore.open(
                in: StateStory.path, TreeTrial.owner, hashed: TreeTrial.hashed, platform: Platform(files: disk)
            ) { _ in throw LogError() }
        }
        #expect(throws: StrataError.self) {
            try TreeStore.open(
                in: StateStory.path, TreeTrial.owner, hashed: TreeTrial.hashed, platform: Platform(files: disk)
            ) { _ in throw StrataError(.badChecksum, "The log is damaged.") }
        }
        #expect(disk.paths == paths)
        #expect(try entries(on: disk) == expected)
    }

    @Test("What prevents a check or a reader is no damage, and states share the files that they have in common")
    func passingErrorsOfReading() throws {
        let disk = SimulatedDisk()
        try disk.makeDirectory(StateStory.path)
        let store = try StateStory.open(disk, Self.options).store
        for offset in 1...8 as ClosedRange<UInt64> {
            let fork = try store.fork()
            try fork.put(StateStory.id, [UInt8(offset)], bytes(1_500, of: UInt8(offset)))
            try store.publish(fork)
            try store.flushAll(at: offset)
        }
        func checked() throws -> CheckedStates {
            try #require(try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true })
        }
        let before = disk.count(of: .map)
        let states = try checked().states
        let fileCount = try disk.list(StateStory.path + "/views").filter { !$0.hasPrefix("state-") }.count
        #expect(states.count > 3 && disk.count(of: .map) - before == fileCount)
        for (index, state) in states.enumerated() {
            #expect(try state.trees.entries(StateStory.id).count == Int(state.state.position.offset), "\(index)")
        }
        for kind in [SimulatedDisk.CallKind.open, .read, .size, .map] {
            var errors = 0
            for call in 1...40 {
                disk.fail(kind, at: call, with: .errno(24), on: "/views/")
                do {
                    #expect(try checked().checkFrames(limit: 9).damage.isEmpty, "\(kind) \(call)")
                } catch let error as StrataError {
                    #expect(error.context.errno == 24)
                    errors += 1
                }
                disk.heal()
            }
            // Each state and each of the files that they share is met once.
            #expect(errors >= (kind == .map ? fileCount : states.count), "\(kind): \(errors)")
        }
        let path = try #require(disk.paths.first { $0.hasSuffix(".run") })
        try disk.flipBit(path, byte: 256 + 100, bit: 1)
        #expect(try checked().checkFrames(limit: 9).damage.count == 1)
        // Of the first state, so that all have it.
        try disk.truncateFile(path, to: 0)
        #expect(try checked().finding == .damaged)
    }

    @Test("A reader looks twice for a file that is missing for good")
    func missing() throws {
        let (disk, _) = try written()
        /// The lists of names that a reader takes.
        func lists(finding isFound: Bool) throws -> Int {
            let (opens, lists) = (disk.count(of: .open), disk.count(of: .list))
            let opened = try openForReading(disk)
            #expect((opened != nil) == isFound && disk.count(of: .open) < opens + 6)
            return disk.count(of: .list) - lists
        }
        let once = try lists(finding: true)
        try disk.removeFile(try #require(disk.paths.first { $0.hasSuffix(".run") }))
        #expect(try lists(finding: false) == once + 1)
    }

    private func openForReading(_ disk: SimulatedDisk) throws -> OpenedTreeStore? {
        try TreeStore.openForReading(
            in: StateStory.path, TreeTrial.owner, hashed: TreeTrial.hashed, files: disk, scratch: ("/tmp", "none")
        ) { _ in true }
    }

    @Test("A reader whose state is replaced before it opens the files takes the next state")
    func replaced() throws {
        let disk = SimulatedDisk()
        var options = TreeTrial.options
        options.maximumKeptStates = 0
        let story = Lock(try StateStory(seed: 1, on: disk, options: options))
        try story.withLock { story in
            try story.change()
            try story.write()
        }
        let failures = Lock<[String]>([])
        disk.beforeCall = { [weak disk] kind, path in
            guard let disk, kind == .open, path.hasSuffix(".run") else { return }
            disk.beforeCall = nil
            do {
                // All runs are merged, so that the file is removed before it is opened.
                try story.withLock { story in
                    while story.round < 3 {
                        try story.change()
                        try story.write()
                    }
                }
                if try disk.exists(path) { failures.withLock { $0.append("\(path) is still there") } }
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        let opened = try #require(try openForReading(disk))
        #expect(failures.withLock { $0 } == [])
        #expect(opened.state?.position.offset == 3 && opened.finding == .whole)
        #expect(try opened.store.snapshot().entries(StateStory.id) == story.withLock { $0.expected })
    }

    @Test("If the newest state is damaged, an older one is taken, and the reason is said")
    func olderState() throws {
        let disk = SimulatedDisk()
        var story = try StateStory(seed: 1, on: disk)
        for _ in 0..<2 {
            try story.change()
            try story.write()
        }
        #expect(try StateStory.open(disk).finding == .whole)
        let newest = try #require(disk.paths.last { $0.contains("/state-") })
        try disk.flipBit(newest, byte: 40, bit: 1)
        let opened = try StateStory.open(disk)
        #expect(opened.finding == .olderState && opened.state?.position.offset == 1)
        #expect(opened.reasons.count == 1)
        let model = try #require(story.models[1])
        let expected = model.sortedKeys.map { [$0, model[$0] ?? []] }
        #expect(try opened.store.snapshot().entries(StateStory.id) == expected)
        let checked = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true }
        #expect(checked?.finding == .olderState && checked?.states.last?.state.position.offset == 1)
    }

    @Test("What a later release wrote is left alone by an opening")
    func laterVersion() throws {
        let (disk, expected) = try written()
        let path = try #require(disk.paths.first { $0.contains("/state-") })
        let bytes = try disk.content(of: path)
        var later = bytes.dropLast(4)
        later[8] = 2
        let sum = later.withUnsafeBytes { CRC32C.checksum($0) }
        disk.setContent(later + withUnsafeBytes(of: sum.littleEndian) { [UInt8]($0) }, of: path)
        let paths = disk.paths
        let opened = try StateStory.open(disk, Self.options)
        #expect(opened.finding == .otherForm && opened.state == nil && opened.reasons.map(\.code) == [.newerFormat])
        #expect(disk.paths == paths)
        disk.setContent(bytes, of: path)
        #expect(try entries(on: disk) == expected)
    }

    @Test("Each state that is kept opens with the entries of its offset")
    func keptStates() throws {
        var story = try StateStory(seed: 2)
        for _ in 0..<40 {
            try story.change(20)
            try story.write()
        }
        let states = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: story.disk) { _ in true }
        let checked = try #require(states)
        #expect(checked.states.count > 8 && checked.states.count < 40)
        for (state, trees) in checked.states {
            let model = try #require(story.models[state.position.offset])
            let expected = model.sortedKeys.map { [$0, model[$0] ?? []] }
            #expect(try trees.entries(StateStory.id) == expected, "\(state.position.offset)")
        }
        #expect(try checked.checkFrames(limit: 9).damage.isEmpty)
    }

    @Test("A number that a state names is not given again, even if its file is lost")
    func numbers() throws {
        let (disk, _) = try written()
        let state = try #require(disk.paths.first { $0.contains("/state-") })
        let next = try StateFile.decode(disk.content(of: state)).nextNumber
        for path in disk.paths where path.hasSuffix(".run") || path.hasSuffix(".blob") { try disk.removeFile(path) }
        let opened = try StateStory.open(disk, Self.options)
        #expect(opened.state == nil && opened.store.state.withLock { $0.nextNumber } == next)
    }

    @Test("Numbers and sizes that no store comes to are not followed")
    func hugeNumbers() throws {
        let (disk, expected) = try written()
        let path = try #require(disk.paths.first { $0.contains("/state-") })
        let bytes = try disk.content(of: path)
        disk.setContent([], of: "/s/views/\(UInt64.max).run")
        disk.setContent(bytes, of: "/s/views/state-\(UInt64.max)")
        // Under another name it would be removed as unnamed, though it is the newest.
        disk.setContent(bytes, of: "/s/views/state-0000000000000099")
        var huge = try StateFile.decode(bytes)
        huge.sequence = 0
        huge.runs[0].pieces[0].byteCount = .max
        huge.runs.append(huge.runs[0])
        disk.setContent(huge.encoded(), of: "/s/views/state-0000000000000000")
        var story = try StateStory(seed: 1, on: disk)
        #expect(try story.store.snapshot().entries(StateStory.id) == expected)
        try story.change()
        try story.write()
        #expect(try StateStory.open(disk, Self.options).state?.position.offset == 1)
    }

    @Test("Of a file that is cut short while it is read, what is there is an answer, and the rest an error")
    func cutShort() throws {
        let directory = try TestDirectory()
        let opened = try TreeStore.open(in: directory.path, TreeTrial.owner, hashed: TreeTrial.hashed) { _ in true }
        let store = opened.store
        let fork = try store.fork()
        for number in 0..<100 { try fork.put(StateStory.id, bigEndian(number), bytes(900, of: UInt8(number + 1))) }
        try store.publish(fork)
        try store.flushAll(at: 1)
        let snapshot = store.snapshot()
        let cursor = snapshot.cursor(StateStory.id)
        // Everything was read, and is checked no more.
        #expect(try snapshot.entries(StateStory.id).count == 100)
        #expect(try cursor.seekFirst())
        let names = try RealFileSystem().list(directory.path + "/views")
        let path = directory.path + "/views/" + (try #require(names.first { $0.hasSuffix(".run") }))
        let file = try RealFileSystem().open(path, .write)
        var failures = 0
        for size in stride(from: try file.size() & ~4_095, to: 0, by: -4_096) {
            try file.truncate(to: size)
            for number in 0..<100 {
                do {
                    let value = try snapshot.value(StateStory.id, bigEndian(number))
                    #expect(value == bytes(900, of: UInt8(number + 1)), "\(number) of \(size)")
                } catch is StrataError { failures += 1 }
            }
        }
        #expect(failures > 100)
        #expect(throws: StrataError.self) { try cursor.withEntry { _, _ in } }
        #expect(throws: StrataError.self) { try snapshot.scan(StateStory.id) { _, _ in false } }
    }

    @Test("An error of a frame has its number and its file", arguments: [1, 2, 3])
    func place(frame: Int) throws {
        let disk = SimulatedDisk()
        try disk.makeDirectory(StateStory.path)
        let store = try StateStory.open(disk, TreeStoreOptions()).store
        let fork = try store.fork()
        for number in 0..<60 { try fork.put(StateStory.id, bigEndian(number), bytes(900, of: 1)) }
        try store.publish(fork)
        try store.flushAll(at: 1)
        let path = try #require(disk.paths.first { $0.hasSuffix(".run") })
        try disk.flipBit(path, byte: frame * RunFormat.frameBytes + 100, bit: 1)
        let states = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true }
        let damage = try #require(states).checkFrames(limit: 100).damage
        #expect(damage.map(\.context.page) == [UInt32(frame)] && damage.first?.context.path == path)
        #expect(damage.first.map { "\($0)".contains("frame \(frame)") } == true)
    }

    @Test("A check names each damaged frame, and counts all")
    func check() throws {
        let (disk, _) = try written()
        func checked() throws -> (count: Int, damage: [StrataError]) {
            let states = try CheckedStates.open(in: StateStory.path, TreeTrial.owner, files: disk) { _ in true }
            return try #require(states).checkFrames(limit: 100)
        }
        let whole = try checked()
        #expect(whole.count > 3 && whole.damage.isEmpty)
        let path = try #require(disk.paths.first { $0.hasSuffix(".run") })
        for frame in 1...whole.count {
            try disk.flipBit(path, byte: frame * 256 + 100, bit: 1)
            #expect(try checked().damage.count == 1, "frame \(frame)")
            try disk.flipBit(path, byte: frame * 256 + 100, bit: 1)
        }
        let blob = try #require(disk.paths.first { $0.hasSuffix(".blob") })
        try disk.flipBit(blob, byte: 500, bit: 1)
        #expect(try checked().damage.count == 1)
    }
}
