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
        try store.freeze()
        let waiting = try #require(store.nextToFlush())
        try store.flush(waiting, at: Position(offset: 1, chain: 1), opaque: [5])
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
        for place in try 0..<disk.content(of: path).count {
            try disk.flipBit(path, byte: place, bit: place % 8)
            if let found = try entries(on: disk) {
                #expect(found == expected, "byte \(place) of \(path)")
            } else {
                damagedCount += 1
            }
            try disk.flipBit(path, byte: place, bit: place % 8)
        }
        #expect(damagedCount > 100)
        #expect(try entries(on: disk) == expected)
    }

    @Test("What prevents reading a state is no damage: the store does not open, and nothing is lost")
    func passingErrors() throws {
        let (disk, expected) = try written()
        let paths = disk.paths
        for kind in [SimulatedDisk.CallKind.open, .read, .size, .map] {
            for call in 1...3 {
                for number in [5, 12, 13, 24] as [Int32] {
                    disk.fail(kind, at: call, with: .errno(number), on: "/views/")
                    do {
                        #expect(try StateStory.open(disk, Self.options).state != nil, "\(kind) \(call) \(number)")
                    } catch let error as StrataError { #expect(error.context.errno == number) }
                    disk.heal()
                }
            }
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
            try store.freeze()
            try store.flush(try #require(store.nextToFlush()), at: Position(offset: offset, chain: 1), opaque: [])
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
            for call in 1...40 {
                disk.fail(kind, at: call, with: .errno(24), on: "/views/")
                do { #expect(try checked().checkFrames(limit: 9).damage.isEmpty, "\(kind) \(call)") } catch let error
                    as StrataError
                { #expect(error.context.errno == 24) }
                disk.heal()
            }
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
        let path = try #require(disk.paths.first { $0.hasSuffix(".run") })
        try disk.removeFile(path)
        let before = disk.count(of: .open)
        let opened = try TreeStore.openForReading(
            in: StateStory.path, TreeTrial.owner, hashed: TreeTrial.hashed, files: disk, scratch: ("/tmp", "none")
        ) { _ in true }
        #expect(opened == nil && disk.count(of: .open) < before + 6)
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
        try store.freeze()
        try store.flush(try #require(store.nextToFlush()), at: Position(offset: 1, chain: 1), opaque: [])
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
        try store.freeze()
        try store.flush(try #require(store.nextToFlush()), at: Position(offset: 1, chain: 1), opaque: [])
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
