import Glibc
import StrataModel
import StrataSystem
import Synchronization
import TestSupport
import Testing

@Suite("Writes past the cache", .timeLimit(.minutes(3)))
struct DirectWriteTests {
    typealias Kind = FileSystemFixture.Kind
    private static let unit = DirectWrites.alignment

    @Test("They are in the file, whoever reads it and however", arguments: Kind.allCases)
    func content(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [UInt8](repeating: 1, count: 3 * Self.unit))
        let reader = try fixture.files.open(fixture.path("a"), .read)
        let map = try reader.map(length: 3 * Self.unit)
        // What was read before must not be what is read again.
        #expect(map.bytes[Self.unit] == 1)
        let pages = Pages(count: 2, filledWith: 2)
        // Not each file system has them; the file is then as before.
        if try !file.writeDirectly(pages.bytes, at: Self.unit) { try file.write(pages.bytes, at: Self.unit) }
        #expect(try reader.read(count: 4 * Self.unit, at: 0) == expected([1, 2, 2]))
        #expect(Array(map.bytes) == expected([1, 2, 2]))
        if try !file.writeDirectly(pages.bytes, at: 4 * Self.unit) { try file.write(pages.bytes, at: 4 * Self.unit) }
        try file.sync()
        #expect(try fixture.content("a") == expected([1, 2, 2, 0, 2, 2]))
        // Parts of the same pages through the cache, and the whole again.
        try file.write([3], at: Self.unit + 1)
        #expect(try reader.read(count: 3, at: Self.unit) == [2, 3, 2])
        if try !file.writeDirectly(pages.bytes, at: Self.unit) { try file.write(pages.bytes, at: Self.unit) }
        #expect(map.bytes[Self.unit + 1] == 2)
        #expect(try fixture.content("a") == expected([1, 2, 2, 0, 2, 2]))
    }

    private func expected(_ pages: [UInt8]) -> [UInt8] {
        pages.flatMap { [UInt8](repeating: $0, count: Self.unit) }
    }

    @Test("What is not whole pages is refused, and writes nothing", arguments: Kind.allCases)
    func unaligned(kind: Kind) throws {
        let fixture = try FileSystemFixture(kind)
        let file = try fixture.makeFile("a", [UInt8](repeating: 1, count: 2 * Self.unit))
        let pages = Pages(count: 2, filledWith: 2)
        let part = UnsafeRawBufferPointer(rebasing: pages.bytes[..<(Self.unit - 8)])
        let moved = UnsafeRawBufferPointer(rebasing: pages.bytes[8..<Self.unit + 8])
        for (bytes, position) in [(pages.bytes, 512), (part, 0), (moved, 0)] {
            #expect(try !file.writeDirectly(bytes, at: position))
        }
        #expect(try fixture.content("a") == expected([1, 1]))
    }

    @Test("A file system without them refuses, and a short one is finished")
    func refused() throws {
        let disk = SimulatedDisk()
        let file = try disk.open("/a", .create)
        let pages = Pages(count: 2, filledWith: 2)
        disk.refusesDirectWrites = true
        #expect(try !file.writeDirectly(pages.bytes, at: 0))
        #expect(try file.size() == 0 && disk.directWrites.isEmpty)
        disk.refusesDirectWrites = false
        disk.fail(.write, at: 1, with: .shortWrite(700))
        disk.fail(.write, at: 2, with: .interrupted)
        #expect(try file.writeDirectly(pages.bytes, at: 0))
        #expect(try disk.content(of: "/a") == expected([2, 2]))
        disk.fail(.write, at: 1, with: .errno(ENOSPC))
        #expect(thrownCode { _ = try file.writeDirectly(pages.bytes, at: 0) } == .noSpace)
    }

    @Test("A file in memory, and one that is closed or open for reading, get none or the same bytes")
    func elsewhere() throws {
        let path = "/dev/shm/strata-direct-\(getpid())"
        let file = try RealFileSystem().open(path, .create)
        defer { unlink(path) }
        let pages = Pages(count: 1, filledWith: 2)
        if try !file.writeDirectly(pages.bytes, at: 0) { try file.write(pages.bytes, at: 0) }
        #expect(try file.read(count: 9_000, at: 0) == expected([2]))
        let reader = try RealFileSystem().open(path, .read)
        file.close()
        #expect(throws: StrataError.self) { try file.write(pages.bytes, at: 0) }
        for other in [file, reader] {
            #expect((try? other.writeDirectly(pages.bytes, at: 0)) != true)
        }
    }

    @Test("A reader that was told of a write never sees what was there before")
    func coherence() throws {
        try Coherence(announcesEarly: false).run(rounds: 3_000)
    }

    @Test("Canary: telling of a write before it is done is noticed")
    func early() throws {
        #expect(throws: StaleBytes.self) { try Coherence(announcesEarly: true).run(rounds: 3_000) }
    }
}

/// What a reader saw that had been replaced already.
private struct StaleBytes: Error {
    let text: String
    init(_ text: String) { self.text = text }
}

/// Aligned memory.
private final class Pages {
    private let memory: UnsafeMutableRawBufferPointer

    init(count: Int, filledWith byte: UInt8) {
        memory = .allocate(byteCount: count * DirectWrites.alignment, alignment: DirectWrites.alignment)
        memory.initializeMemory(as: UInt8.self, repeating: byte)
    }

    deinit { memory.deallocate() }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(memory) }

    /// Puts a number at the beginning of each page.
    func number(_ number: UInt64) {
        for place in stride(from: 0, to: memory.count, by: DirectWrites.alignment) {
            memory.storeBytes(of: number, toByteOffset: place, as: UInt64.self)
        }
    }
}

/// A thread that writes numbers past the cache and then tells of them, beside one that reads them all the time, by a
/// call and by a map.
private final class Coherence: Sendable {
    private let announcesEarly: Bool
    private let told = Atomic<UInt64>(0)
    private let isDone = Atomic(false)
    private let failure = Monitor<StaleBytes?>(nil)

    init(announcesEarly: Bool) { self.announcesEarly = announcesEarly }

    func run(rounds: UInt64) throws {
        let directory = try TestDirectory()
        let pageCount = 8
        let pages = Pages(count: pageCount, filledWith: 0)
        let file = try RealFileSystem().open(directory.path("a"), .create)
        try file.write(pages.bytes, at: 0)
        let other = try RealFileSystem().open(directory.path("a"), .read)
        let reader = try WorkerThread(name: "reader") { [self] in
            do { try read(other, pageCount) } catch { failure.withLock { $0 = error as? StaleBytes } }
        }
        for number in 1...rounds {
            if announcesEarly { told.store(number, ordering: .releasing) }
            pages.number(number)
            if try !file.writeDirectly(pages.bytes, at: 0) { try file.write(pages.bytes, at: 0) }
            told.store(number, ordering: .releasing)
            // Without it, the reader would only ever see pages that are just being written.
            if number % 4 == 0 { usleep(20) }
        }
        isDone.store(true, ordering: .releasing)
        reader.join()
        if let failure = failure.withLock({ $0 }) { throw failure }
    }

    private func read(_ file: any File, _ pageCount: Int) throws {
        let map = try file.map(length: pageCount * DirectWrites.alignment)
        while !isDone.load(ordering: .acquiring) {
            for page in 0..<pageCount {
                let place = page * DirectWrites.alignment
                var least = told.load(ordering: .acquiring)
                let read = try file.read(count: 8, at: place).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
                guard read >= least else { throw StaleBytes("\(read) was read, \(least) was written") }
                least = told.load(ordering: .acquiring)
                let mapped = map.bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                guard mapped >= least else { throw StaleBytes("\(mapped) is mapped, \(least) was written") }
            }
        }
    }
}
