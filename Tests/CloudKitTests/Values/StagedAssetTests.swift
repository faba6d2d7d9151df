import Foundation
import StrataModel
import StrataStore
import StrataSystem
import TestSupport
import Testing

@testable import CloudKit

@Suite("Copies of fetched assets", .timeLimit(.minutes(2)))
struct StagedAssetTests {
    private let directory: TestDirectory
    private let store: Store

    init() throws {
        directory = try TestDirectory()
        store = try Store.inMemory()
    }

    private func asset(_ count: Int) throws -> PinnedAsset {
        let url = URL(fileURLWithPath: directory.path("source"))
        try Data(repeating: 5, count: count).write(to: url)
        return try store.importAsset(at: url.path)
    }

    private func exists(_ url: URL?) -> Bool { url.map { FileManager.default.fileExists(atPath: $0.path) } ?? false }

    @Test("A copy that nobody holds any more stays until 1,000 others have come, and no longer")
    func retiredByCount() throws {
        let staged = StagedAssets(of: store, in: StagingDirectory(in: directory.path))
        let pin = try asset(3)
        let held = StagedCopy(pin.value, staged)
        let kept = held.url
        let first = StagedCopy(pin.value, staged).url
        #expect(exists(kept) && exists(first) && kept != first)
        for _ in 1..<StagedAssets.maximumRetiredCount { _ = StagedCopy(pin.value, staged).url }
        #expect(exists(first))
        _ = StagedCopy(pin.value, staged).url
        #expect(!exists(first) && exists(kept) && held.url == kept)
        staged.removeAll()
        #expect(!exists(kept))
        #expect(StagedCopy(pin.value, staged).url == nil)
        try store.close()
    }

    @Test("However large copies are, the newest stay for those who kept their URLs only")
    func retiredByBytes() throws {
        let staged = StagedAssets(of: store, in: StagingDirectory(in: directory.path))
        let pin = try asset(3)
        let large = StagedAssets.maximumRetiredBytes + 1
        func retired() throws -> URL {
            let path = try #require(staged.stage(pin.value))
            staged.retire(path, large)
            return URL(fileURLWithPath: path)
        }
        let first = try retired()
        for _ in 1..<StagedAssets.minimumRetiredCount { _ = try retired() }
        #expect(exists(first))
        let last = try retired()
        #expect(!exists(first) && exists(last))
        staged.removeAll()
        try store.close()
    }

    @Test("A copy that is never asked for is never made; one that cannot be made is none")
    func lazy() throws {
        let parent = directory.path("tmp")
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        let staged = StagedAssets(of: store, in: StagingDirectory(in: parent))
        let pin = try asset(3)
        let copy = StagedCopy(pin.value, staged)
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent).isEmpty)
        #expect(exists(copy.url))
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent).count == 2)
        let lost = StagedCopy(.init(hash: ContentHash(first: 1, second: 2), size: 3), staged)
        #expect(lost.url == nil)
        #expect(StagedAssets(of: store, in: StagingDirectory(in: parent + "/nowhere")).stage(pin.value) == nil)
        try store.close()
    }

    @Test("What a dead process left is removed, what a living one has is not")
    func leftovers() throws {
        let living = StagingDirectory(in: directory.path)
        let path = try #require(living.path())
        let dead = directory.path("strata-assets-dead")
        try FileManager.default.createDirectory(atPath: dead, withIntermediateDirectories: true)
        try Data("1".utf8).write(to: URL(fileURLWithPath: dead + "/file"))
        try Data().write(to: URL(fileURLWithPath: dead + ".lock"))
        let stranger = directory.path("strata-other")
        try Data().write(to: URL(fileURLWithPath: stranger))
        let other = try #require(StagingDirectory(in: directory.path).path())
        let names = Set(try FileManager.default.contentsOfDirectory(atPath: directory.path))
        #expect(!names.contains("strata-assets-dead") && !names.contains("strata-assets-dead.lock"))
        #expect(names.contains("strata-other") && exists(URL(fileURLWithPath: path)) && path != other)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o700)
        // Somebody cleans up behind our back.
        try FileManager.default.removeItem(atPath: path)
        let next = try #require(living.path())
        #expect(next != path && exists(URL(fileURLWithPath: next)))
        try store.close()
    }
}
