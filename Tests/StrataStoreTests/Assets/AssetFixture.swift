import StrataModel
import StrataSystem
import TestSupport

@testable import StrataStore

/// A store on a disk, and files beside it.
struct AssetFixture {
    static let path = "/Assets.strata"
    static let field = "photo"
    static let anna = Actor(user: "anna")

    let files: any FileSystem
    let store: Store

    init(_ files: any FileSystem, options: StoreOptions = .service) throws {
        self.files = files
        store = try Store.open(at: Self.path, options: options, platform: Platform(files: files))
    }

    static func bytes(_ number: Int, count: Int = 3_000) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ number &* 13 &+ $0 >> 8) }
    }

    @discardableResult
    static func write(_ bytes: [UInt8], to path: String, on files: any FileSystem) throws -> String {
        let file = try files.open(path, .writeOrCreate)
        defer { file.close() }
        try file.truncate(to: 0)
        try file.write(bytes, at: 0)
        return path
    }

    func makeZone() throws { _ = try store.modify(NoteRequest.makingZones(), as: Self.anna) }

    static func save(_ name: String, _ assets: [PinnedAsset], in store: Store) throws {
        let value = FieldValue.list(try FieldList(assets.map { .asset($0.value) }))
        let answer = try store.modify(NoteRequest.saving([name], [(field, value)]), as: anna)
        for result in answer.result.saves { _ = try result.get() }
    }

    /// Imports a file with these bytes, and saves a record that has it.
    func save(_ name: String, _ bytes: [UInt8]) throws {
        let source = try Self.write(bytes, to: "/source-\(name)", on: files)
        try Self.save(name, [try store.importAsset(at: source)], in: store)
    }

    /// Names of the files below `assets`, drafts among them.
    static func kept(on files: any FileSystem, at path: String = path) throws -> [String] {
        let directory = path + "/assets"
        guard try files.exists(directory) else { return [] }
        return try files.list(directory).flatMap { name in
            name.utf8.count == 2 ? try files.list(directory + "/" + name) : [name]
        }
    }

    /// The assets that records of the newest state name, each of which must be whole.
    static func requireWhole(_ store: Store, _ names: [String]) throws -> [FieldValue.Asset] {
        var assets: [FieldValue.Asset] = []
        for name in names {
            let record = try? store.snapshot().record(NoteRequest.id(name), in: NoteRequest.database, as: anna)
            guard let record else { continue }
            try store.requireAssets(of: record)
            assets += try record.assets
        }
        return assets
    }
}
