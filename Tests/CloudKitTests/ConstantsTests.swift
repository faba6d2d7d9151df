import CloudKit
import Testing

@Suite("Constants")
struct ConstantsTests {
    @Test("The current user's stand-in")
    func currentUser() { #expect(CKCurrentUserDefaultName == "__defaultOwner__") }
}
