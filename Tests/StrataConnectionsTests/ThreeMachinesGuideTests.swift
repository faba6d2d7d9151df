import CloudKit
import StrataJetStream  // or StrataPostgres
import TestSupport
import Testing

/// The page "Three machines": its blocks stand in the example or here, and are compiled. The example runs elsewhere.
@Suite("Guide: three machines")
struct ThreeMachinesGuideTests {
    @Test func everyBlockIsCompiled() throws {
        let page = try GuidePage("docs/guide/three-machines.md")
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let sources = try [#filePath, "\(root)/Examples/ThreeServers/Server.swift"]
            .map { try String(contentsOfFile: $0, encoding: .utf8) }
        #expect(page.blocks.count == 4)
        #expect(page.blocksMissing(fromSource: sources.joined(separator: "\n")) == [])
        #expect(try places().first != places().last)
    }

    // Only compiled: these would write to the root of the file system, or connect.
    private func onADirectory(at url: URL) throws -> CloudStore {
        let store = try CloudStore(at: url, log: .directory("/shared/Notes.sequence"))
        return store
    }

    private func onServers(at url: URL) throws -> CloudStore {
        let place = try CloudStore.LogPlace.jetStream("tls://n1,n2,n3/notes").withFiles(in: "/shared/Notes.files")
        let store = try CloudStore(at: url, log: place)
        return store
    }

    private func places() throws -> [CloudStore.LogPlace] {
        let place = try CloudStore.LogPlace.jetStream("tls://n1,n2,n3/notes?assets=cluster")
            .withFiles(in: "/shared/Notes.files")
        return [place, try CloudStore.LogPlace.jetStream("tls://n1,n2,n3/notes").withFiles(in: "/shared/Notes.files")]
    }
}
