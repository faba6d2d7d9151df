import Foundation
import StrataModel
import StrataStore
import TestSupport
import Testing

/// Pages with a block for programs that use the engine: it stands here line for line, is compiled, and runs.
@Suite("Guide: blocks for the engine")
struct PageBlocksTests {
    @Test func everyBlockIsCompiled() throws {
        let source = try String(contentsOfFile: #filePath, encoding: .utf8)
        #expect(try GuidePage("docs/encryption.md").blocksMissing(fromSource: source) == [])
        // The other one is for CloudKit.
        let assets = try GuidePage("docs/assets.md").blocksMissing(fromSource: source)
        #expect(assets.count == 1 && assets[0].last == "try await database.save(record)")
    }

    @Test func assets() async throws {
        let directory = try TestDirectory()
        let (path, copyPath) = (directory.path("photo.jpg"), directory.path("copy.jpg"))
        try Data("a photo".utf8).write(to: URL(fileURLWithPath: path))
        let store = try Store.inMemory()
        let (id, database) = (RecordID("note", zone: .default), DatabaseID(.private))
        let anna = Actor(user: "anna", device: "phone")
        var builder = RequestBuilder(database)
        let photo = try store.importAsset(at: path)  // pinned while this object exists
        builder.save(id, type: "Note", fields: ["photo": .asset(photo.value)])
        let answer = try await store.modify(builder.request, as: anna)

        let record = try answer.snapshot.record(id, in: database, as: anna)
        try store.requireAssets(of: record)
        for asset in try record.assets { try store.copyAsset(asset, to: copyPath) }
        #expect(try Data(contentsOf: URL(fileURLWithPath: copyPath)) == Data("a photo".utf8))
    }

    @Test func encryption() throws {
        let store = try Store.inMemory()
        let (id, anna) = (RecordID("card", zone: .default), Actor(user: "anna", device: "phone"))
        var builder = RequestBuilder(DatabaseID(.private))
        let pin = try store.seal(.string("1234"), for: "pin", of: id, in: DatabaseID(.private), as: anna)
        builder.save(id, type: "Card", fields: ["pin": pin])
        try store.modify(builder.request, as: anna)
        let opened = try store.snapshot().record(id, in: DatabaseID(.private), as: anna).opened("pin")
        try store.resetEncryptedData(of: "anna")
        #expect(opened == .string("1234"))
        let left = try store.snapshot().record(id, in: DatabaseID(.private), as: anna)
        #expect(thrownCode { _ = try left.opened("pin") } == .keyDestroyed)
    }
}
