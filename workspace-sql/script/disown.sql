-- The role is the installer's again, who was the owner for a while only.

set local role :"installer";
\if :lent
    revoke wf_owner from :"installer";
\endif
