import StrataModel
import Testing

@testable import CloudKit

@Suite("Errors of the engine")
struct EngineErrorTests {
    @Test("Where a store keeps no assets and keys for all its processes, clients learn that from the code and the text")
    func missingFiles() throws {
        let expected: [(StrataError.Code, CKError.Code)] = [
            (.assetNotAvailable, .assetNotAvailable), (.invalidArgument, .invalidArguments),
        ]
        for (code, expected) in expected {
            let error = CKError(engine: StrataError(code, "The store has no directory that all its processes share."))
            #expect(error.code == expected)
            #expect("\(error)".contains("no directory that all its processes share"))
        }
    }
}
