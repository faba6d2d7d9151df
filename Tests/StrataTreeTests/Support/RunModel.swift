import StrataModel
import StrataSystem
import TestSupport

@testable import StrataTree

/// What an entry holds, apart from its file.
enum ModelContent: Equatable {
    case value([UInt8])
    case mark
}

/// What a run must hold, kept in the plainest way.
struct RunModel: Equatable {
    var entries: [RunKey: ModelContent] = [:]
    var ranges: [DeletedRange] = []

    var sortedKeys: [RunKey] { entries.keys.sorted() }

    /// What a run says of a key: a mark if a range deletes it.
    func get(_ key: RunKey) -> ModelContent? {
        entries[key] ?? (isDeleted(key) ? .mark : nil)
    }

    func isDeleted(_ key: RunKey) -> Bool {
        ranges.contains { range in
            range.tree == key.tree && !key.bytes.lexicographicallyPrecedes(range.lower)
                && (range.upper.isEmpty || key.bytes.lexicographicallyPrecedes(range.upper))
        }
    }

    /// The state of several layers, newest first, as one layer.
    static func merged(_ layers: [RunModel], isOldest: Bool) -> RunModel {
        var result = RunModel()
        for layer in layers.reversed() {
            for key in result.entries.keys where layer.isDeleted(key) { result.entries[key] = nil }
            result.entries.merge(layer.entries) { $1 }
            result.ranges += layer.ranges
        }
        if isOldest {
            result.entries = result.entries.filter { $0.value != .mark }
            result.ranges = []
        }
        return result
    }
}

/// Runs on a simulated disk, beside their models.
final class RunTrial {
    static let owner = RunOwner(store: Identifier(high: 0x1234, low: 0x5678), form: 5)
    static let hashed = TreeID(rawValue: 2)
    static let sorted = TreeID(rawValue: 3)
    static let trees = [TreeID(rawValue: 1), hashed, sorted, TreeID(rawValue: 0x0102)]
    static let hashedTrees: Set<TreeID> = [hashed, TreeID(rawValue: 0x0102)]

    let disk = SimulatedDisk()
    let frameBytes: Int
    let blobs: BlobWriter
    private let blobFile: any File
    private var next: UInt64 = 1

    init(frameBytes: Int) throws {
        self.frameBytes = frameBytes
        blobFile = try disk.open("/1000.blob", .create)
        blobs = BlobWriter(blobFile, number: 1_000)
    }

    func path(_ number: UInt64) -> String { "/\(number).run" }

    func writer() throws -> PieceWriter {
        defer { next += 1 }
        return PieceWriter(
            try disk.open(path(next), .create), number: next, Self.owner, hashed: Self.hashedTrees,
            frameBytes: frameBytes)
    }

    func open(_ descriptor: PieceDescriptor) throws -> Piece {
        try Piece(try disk.open(path(descriptor.number), .read), descriptor, Self.owner)
    }

    func append(_ key: RunKey, _ content: ModelContent, to writer: PieceWriter) throws {
        try key.bytes.withUnsafeBytes { bytes in
            switch content {
            case .mark: try writer.append(tree: key.tree, key: bytes, content: .mark)
            case .value(let value) where value.count > min(RunFormat.maximumValueBytes, frameBytes / 4):
                let reference = try value.withUnsafeBytes { try blobs.append($0) }
                try writer.append(tree: key.tree, key: bytes, content: .blob(reference))
            case .value(let value):
                try value.withUnsafeBytes { try writer.append(tree: key.tree, key: bytes, content: .value($0)) }
            }
        }
    }

    /// Writes a model as a run of so many pieces.
    func run(_ model: RunModel, pieces count: Int = 1) throws -> Run {
        let keys = model.sortedKeys
        let count = keys.isEmpty ? 1 : count
        let ranges = DeletedRanges(model.ranges)
        let cuts = [0] + (1..<max(count, 1)).map { $0 * keys.count / count } + [keys.count]
        let pieces = try zip(cuts, cuts.dropFirst()).filter { $0 < $1 || count == 1 }.map { start, end in
            let writer = try writer()
            for key in keys[start..<end] { try append(key, model.entries[key] ?? .mark, to: writer) }
            let from = start == 0 ? nil : keys[start]
            for range in ranges.clipped(from: from, to: end == keys.count ? nil : keys[end]).ranges {
                writer.addRange(tree: range.tree, lower: range.lower, upper: range.upper)
            }
            return try open(try writer.finish())
        }
        return try Run(pieces)
    }

    /// The values in blob files must have been finished.
    lazy var openedBlobs = Result { try BlobFile(blobFile, number: 1_000) }

    func model(_ content: RunContent) throws -> ModelContent {
        switch content {
        case .mark: .mark
        case .value(let bytes): .value([UInt8](bytes))
        case .blob(let reference): .value([UInt8](try openedBlobs.get().value(reference)))
        }
    }

    /// The entries from the place on that `seek` moves a cursor to.
    func entries(
        of run: Run, from seek: (inout RunCursor) throws -> Bool
    ) throws -> [(RunKey, ModelContent)] {
        var cursor = RunCursor(run)
        var isThere = try seek(&cursor)
        var found: [(RunKey, ModelContent)] = []
        while isThere, let entry = cursor.entry {
            found.append((RunKey(entry), try model(entry.content)))
            isThere = try cursor.next()
        }
        return found
    }

    /// Everything that a run holds, by a cursor over all trees.
    func content(of run: Run) throws -> RunModel {
        let entries = try entries(of: run) { try $0.seekFirst() }
        return RunModel(entries: Dictionary(entries) { $1 }, ranges: run.ranges.ranges)
    }
}

/// Random layers over few keys, so that layers meet.
struct RunGenerator {
    var random: SeededGenerator
    let trial: RunTrial
    let keys: [RunKey]

    init(seed: UInt64, _ trial: RunTrial, keys count: Int) {
        self.trial = trial
        var entries = EntryGenerator(EntryGenerator.Shape.allCases[Int(seed) % 6], seed: seed)
        let longest = trial.frameBytes < 2_048 ? 60 : RunFormat.maximumKeyBytes
        keys = (0..<count).map { _ in
            let tree = RunTrial.trees.randomElement(using: &entries.random) ?? RunTrial.sorted
            return RunKey(tree: tree, bytes: Array(entries.key().prefix(longest)))
        }
        random = entries.random
    }

    mutating func layer() -> RunModel {
        var model = RunModel()
        for _ in 0..<Int.random(in: 0...keys.count, using: &random) {
            guard let key = keys.randomElement(using: &random) else { break }
            model.entries[key] = content()
        }
        for _ in 0..<[0, 0, 1, 3].randomElement(using: &random)! { model.ranges.append(range()) }
        return model
    }

    private mutating func range() -> DeletedRange {
        let bounds = (0..<2).map { _ in keys[Int.random(in: 0..<keys.count, using: &random)] }.sorted()
        let isOpen = bounds[0].tree != bounds[1].tree || bounds[0] == bounds[1]
        let lower = Bool.random(using: &random) || !isOpen ? bounds[0].bytes : []
        return DeletedRange(tree: bounds[0].tree, lower: lower, upper: isOpen ? [] : bounds[1].bytes)
    }

    private mutating func content() -> ModelContent {
        switch Int.random(in: 0..<20, using: &random) {
        case 0...3: .mark
        case 4: .value([])
        case 5 where trial.frameBytes >= 2_048: .value(random.nextBytes(1_024))
        case 6: .value(random.nextBytes(1_025))
        default: .value(random.nextBytes(Int.random(in: 0...50, using: &random)))
        }
    }
}
