import StrataModel
import StrataSystem
import StrataViews
import TestSupport
import Testing

@testable import StrataLog
@testable import StrataStore

@Suite("A store whose log lost its newest part: the views know how far it reached")
struct LostLogEndTests {
    enum Way: String, CaseIterable, Sendable { case removed, twoRemoved, cut, zeros }

    private let disk = SimulatedDisk()
    private let end: UInt64
    private let assets: [String]

    /// A closed store of several segments, each commit of which has an asset.
    init() throws {
        let fixture = try AssetFixture(disk, options: Self.options)
        try fixture.makeZone()
        for number in 0..<24 {
            let text = [("text", FieldValue.string(SeededGenerator.text(seed: UInt64(number), count: 12_000)))]
            _ = try fixture.store.modify(NoteRequest.saving(["note-\(number)"], text), as: AssetFixture.anna)
            try fixture.save("photo-\(number)", AssetFixture.bytes(number))
        }
        end = fixture.store.offset
        try fixture.store.close()
        assets = try AssetFixture.kept(on: disk).sorted()
    }

    private static var options: StoreOptions {
        var options = StoreOptions.service
        options.segmentBytes = 64 << 10
        return options
    }

    private func open(_ access: AccessMode = .readWrite) throws -> Store {
        try Store.open(
            at: AssetFixture.path, options: Self.options, access: access, platform: Platform(files: disk))
    }

    /// The files of the views, with their contents.
    private func views() throws -> [String: [UInt8]] {
        let paths = disk.paths.filter { $0.hasPrefix(AssetFixture.path + "/views/") }
        return try Dictionary(uniqueKeysWithValues: paths.map { ($0, try disk.content(of: $0)) })
    }

    private var segments: [String] { disk.paths.filter { $0.hasSuffix(".seg") }.sorted() }

    private func take(_ way: Way) throws {
        let newest = try #require(segments.last)
        let size = try disk.content(of: newest).count
        switch way {
        case .removed: try disk.removeFile(newest)
        case .twoRemoved: for path in segments.suffix(2) { try disk.removeFile(path) }
        case .cut: try disk.truncateFile(newest, to: 128)
        case .zeros: try disk.overwrite(newest, at: 128, with: [UInt8](repeating: 0, count: size - 128))
        }
    }

    @Test("Opening fails, for reading too, and leaves views and assets", arguments: Way.allCases)
    func opening(_ way: Way) throws {
        try #require(segments.count > 3 && assets.count == 24)
        try take(way)
        let views = try views()
        for access in [AccessMode.readWrite, .readOnly] {
            #expect(thrownCode { _ = try open(access) } == .missingSegment)
        }
        #expect(try self.views() == views)
        #expect(try AssetFixture.kept(on: disk).sorted() == assets)
        let report = LogVerifier.verify(at: AssetFixture.path, platform: Platform(files: disk))
        #expect(report.damage?.context.path?.hasPrefix(AssetFixture.path + "/views/state-") == true)
        #expect(report.extent?.lostOffsets.ranges.last?.upperBound == end)
    }

    @Test("What is in front can be read as of an offset")
    func past() throws {
        try take(.removed)
        let store = try Store.open(
            at: AssetFixture.path, through: 3, options: Self.options, platform: Platform(files: disk))
        #expect(store.offset == 3)
        try store.close()
    }

    @Test("Repaired, it opens and goes on; states after its end are kept aside", arguments: Way.allCases)
    func repaired(_ way: Way) throws {
        try take(way)
        let views = try views()
        let plan = try LogRepair.apply(at: AssetFixture.path, platform: Platform(files: disk))
        #expect(plan.obstacle == nil && plan.lostOffsets == OffsetRanges([plan.end.offset + 1...end]))
        for (path, bytes) in views where path.contains("/state-") {
            #expect(try disk.content(of: path + ".repaired-1") == bytes)
        }
        let store = try open()
        #expect(store.log.end == plan.end && store.opening?.views == .missing)
        _ = try store.modify(NoteRequest.saving(["new"], [("text", .string("new"))]), as: AssetFixture.anna)
        try store.close()
        #expect(LogVerifier.verify(at: AssetFixture.path, platform: Platform(files: disk)).damage == nil)
        try open().close()
    }

    @Test("With the segment put back all is there")
    func putBack() throws {
        let newest = try #require(segments.last)
        let bytes = try disk.content(of: newest)
        try take(.removed)
        #expect(thrownCode { _ = try open() } == .missingSegment)
        disk.setContent(bytes, of: newest)
        let store = try open()
        #expect(store.offset == end && store.opening?.views == .whole)
        let names = (0..<24).map { "photo-\($0)" }
        #expect(try AssetFixture.requireWhole(store, names).count == 24)
        try store.close()
    }

    @Test("The position that a state names is the one that is read of it")
    func mark() throws {
        let views = try #require(
            try Views.summary(
                of: LogReader.open(at: AssetFixture.path, platform: Platform(files: disk)), in: AssetFixture.path,
                files: disk))
        let states = try self.views().filter { $0.key.contains("/state-") }.map(\.value)
        #expect(!states.isEmpty)
        #expect(states.compactMap(StateMark.init(decoding:)).contains { $0.position == views.state?.position })
        for state in states {
            for place in [0, 8, 30, 50, state.count - 1] {
                var damaged = state
                damaged[place] ^= 1
                #expect(StateMark(decoding: damaged) == nil)
            }
        }
        #expect(StateMark(decoding: [UInt8](repeating: 0, count: 4_096)) == nil)
    }
}
