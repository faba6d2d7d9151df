import FuzzBodies
import FuzzDriver

fuzz { _ = FuzzBodies.token($0) }
