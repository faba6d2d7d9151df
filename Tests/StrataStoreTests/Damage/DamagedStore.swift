import StrataLog
import StrataModel
import StrataSystem
import StrataViews
import Synchronization
import TestSupport
import Testing

@testable import StrataStore
@testable import StrataTree

/// A store on a simulated disk, whose views go wrong while it is open.
struct DamagedStore {
    static let path = "/Worn.strata"
    static let views = path + "/views"
    static let noteCount = 400
    private static let frameBytes = 4_096

    let disk: SimulatedDisk
    let anna = Actor(user: "anna", device: "phone")
    let options: StoreOptions
    let store: Store

    /// - Parameter indexing: whether the titles of all notes are indexed.
    init(
        indexing: Bool = false, segmentBytes: Int = 64 << 20, patienceMilliseconds: Int = 30_000
    ) throws {
        var options = StoreOptions.service
        options.segmentBytes = segmentBytes
        options.trees.frameBytes = Self.frameBytes
        options.patienceMilliseconds = patienceMilliseconds
        self.options = options
        disk = SimulatedDisk()
        // What is in a state is read anew when the store is opened.
        let store = try Self.open(disk, options)
        _ = try store.modify(NoteRequest.makingZones(), as: anna)
        for start in stride(from: 0, to: Self.noteCount, by: 100) {
            let names = (start..<start + 100).map(Self.name)
            _ = try store.modify(NoteRequest.saving(names, Self.title("old")), as: anna)
        }
        if indexing {
            try store.declareIndex(type: "Note", field: "title")
            store.awaitIndexes()
        }
        try store.settleViews()
        try store.close()
        self.store = try Self.open(disk, options)
        #expect(self.store.opening?.views == .whole)
    }

    private init(_ disk: SimulatedDisk, _ options: StoreOptions) throws {
        (self.disk, self.options) = (disk, options)
        store = try Self.open(disk, options)
    }

    /// The same store, none of whose frames has been looked at.
    static func reopened(_ worn: DamagedStore) throws -> DamagedStore {
        try worn.store.settleViews()
        try worn.store.close()
        return try DamagedStore(worn.disk, worn.options)
    }

    static func open(_ disk: SimulatedDisk, _ options: StoreOptions) throws -> Store {
        try Store.open(at: path, options: options, platform: Platform(files: disk))
    }

    static func name(_ number: Int) -> String { "note-\(number)" }

    /// So long that few notes fit a frame.
    static func title(_ word: String) -> [(String, FieldValue)] {
        [("title", .string(word + String(repeating: ".", count: 300)))]
    }

    /// Every frame of the runs but their headers and footers goes wrong.
    ///
    /// - Parameter text: a part of a value, to damage only the frames that have it.
    func damage(containing text: String = "") throws {
        var count = 0
        for path in disk.paths where path.hasPrefix(Self.views + "/") && path.hasSuffix(".run") {
            let content = try disk.content(of: path)
            for start in stride(from: Self.frameBytes, to: content.count - Self.frameBytes, by: Self.frameBytes) {
                let frame = String(decoding: content[start..<start + Self.frameBytes], as: UTF8.self)
                guard text.isEmpty || frame.contains(text) else { continue }
                try disk.flipBit(path, byte: start + 2_000, bit: 3)
                count += 1
            }
        }
        #expect(count > 20, "the trees are in the files")
    }

    /// Has all frames checked again at their next reads, as after an opening: those that the store wrote itself were
    /// checked then.
    func forgetChecks() {
        for piece in store.views.trees.snapshot().below.levels.runs.flatMap(\.run.pieces) {
            for index in piece.checkedFrames.words.indices {
                piece.checkedFrames.words[index].store(0, ordering: .relaxed)
            }
        }
    }

    /// True if there is a state on the disk.
    var hasStates: Bool { disk.paths.contains { $0.hasPrefix(Self.views + "/state-") } }

    /// Calls `body` while the log cannot be read for folding, and waits until that has begun.
    func whileFolding(_ body: () throws -> Void) throws {
        let (gate, begun) = (Gate(), Lock(false))
        disk.beforeCall = { kind, path in
            guard kind == .read, path.contains("/log/") else { return }
            begun.withLock { $0 = true }
            gate.wait()
        }
        defer {
            disk.beforeCall = nil
            gate.open()
        }
        store.pipeline.live.note(Self.error, in: store.views)
        #expect(eventually { begun.withLock { $0 } })
        try body()
    }

    /// The error of a damaged frame.
    static let error = StrataError(.badChecksum, "A frame does not match its checksum.", .init(page: 7))

    /// Calls `body` again, up to a bound, while it ends with the error that says so.
    func retrying<Result>(_ body: () throws -> Result) throws -> Result {
        for _ in 0..<20 {
            do { return try body() } catch let error as StrataError where error.code == .viewsDamaged {}
        }
        return try body()
    }

    @discardableResult
    func save(_ numbers: [Int], _ word: String) throws -> Answer {
        try store.modify(NoteRequest.saving(numbers.map(Self.name), Self.title(word)), as: anna)
    }

    func word(_ number: Int, in snapshot: StoreSnapshot) throws -> String {
        let record = try snapshot.record(NoteRequest.id(Self.name(number)), in: NoteRequest.database, as: anna)
        guard case .string(let title)? = try record["title"] else { return "" }
        return title.filter { $0 != "." }
    }

    func words(_ numbers: [Int], in snapshot: StoreSnapshot) throws -> [String] {
        try numbers.map { try word($0, in: snapshot) }
    }

    /// How many commits the log has; no request may be in it twice.
    var commitCount: Int { get throws { Int(store.log.end.offset) } }

    /// That the state is what the log says, and stays so when the store is opened again.
    func checkAndClose() throws {
        let truth = try Views.inMemory(store.log).trees.snapshot().digests()
        #expect(try store.snapshot().digests() == truth)
        try store.close()
        let again = try Self.open(disk, options)
        #expect(try again.snapshot().digests() == truth)
        #expect(try words([0, Self.noteCount - 1], in: again.snapshot()).allSatisfy { !$0.isEmpty })
        try again.close()
    }
}

extension Lock<Bool> {
    /// Whether it was true, which it is only once.
    func isTaken() -> Bool {
        withLock { value in
            defer { value = false }
            return value
        }
    }
}
