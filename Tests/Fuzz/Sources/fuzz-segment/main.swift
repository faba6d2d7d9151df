import FuzzBodies
import FuzzDriver

fuzz { FuzzBodies.segment($0) }
