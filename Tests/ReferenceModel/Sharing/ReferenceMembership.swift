/// That a user is or was a member of a share in a zone of somebody else.
package struct ReferenceMembership: Sendable, Hashable {
    package var user: String
    package var owner: String
    package var zone: ReferenceName
}
