import StrataModel
import Testing

@Suite("Addresses of users")
struct UserAddressTests {
    @Test("E-mail addresses are the same but for the case of A to Z, and other letters keep theirs")
    func emails() {
        #expect(UserAddress(.email, "Anna@Example.COM") == UserAddress(.email, "anna@example.com"))
        #expect(UserAddress(.email, "[@`{z").text == "[@`{z")
        #expect(UserAddress(.email, "\u{C9}@x.org") != UserAddress(.email, "\u{E9}@x.org"))
        #expect(UserAddress(.email, "\u{E9}@x.org") != UserAddress(.email, "e\u{301}@x.org"))
    }

    @Test("Phone numbers are the same if their digits are")
    func phones() {
        #expect(UserAddress(.phone, "+1 (415) 555-0100") == UserAddress(.phone, "1 415 555 0100"))
        #expect(UserAddress(.phone, "1415") != UserAddress(.phone, "1 416"))
        #expect(UserAddress(.phone, "1415") != UserAddress(.email, "1415"))
    }
}
